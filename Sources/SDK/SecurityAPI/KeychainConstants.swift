// SPDX-License-Identifier: Apache-2.0

public import CoreFoundationAPI

// The keys and values of queries. Source: *Keychain Items* of Apple's Security framework. Their texts are Apple's, because
// authors print them and write them into property lists.

// MARK: Classes

public let kSecClass: CFString = "class"
public let kSecClassGenericPassword: CFString = "genp"
public let kSecClassInternetPassword: CFString = "inet"
/// Here a key is stored as data: there are no operations with it, and no `SecKey`.
public let kSecClassKey: CFString = "keys"
/// Here a certificate cannot be stored: `SecItemAdd` returns `errSecUnimplemented`.
public let kSecClassCertificate: CFString = "cert"
/// Here an identity cannot be stored: `SecItemAdd` returns `errSecUnimplemented`.
public let kSecClassIdentity: CFString = "idnt"

// MARK: Attributes of all items

public let kSecAttrAccessible: CFString = "pdmn"
public let kSecAttrAccessGroup: CFString = "agrp"
/// An item with `true` is another item than one with `false`. It is not synchronised here.
public let kSecAttrSynchronizable: CFString = "sync"
public let kSecAttrSynchronizableAny: CFString = "syna"
public let kSecAttrCreationDate: CFString = "cdat"
public let kSecAttrModificationDate: CFString = "mdat"
public let kSecAttrLabel: CFString = "labl"

// MARK: Attributes of passwords

public let kSecAttrDescription: CFString = "desc"
public let kSecAttrComment: CFString = "icmt"
public let kSecAttrCreator: CFString = "crtr"
public let kSecAttrType: CFString = "type"
public let kSecAttrIsInvisible: CFString = "invi"
public let kSecAttrIsNegative: CFString = "nega"
public let kSecAttrAccount: CFString = "acct"
public let kSecAttrService: CFString = "svce"
public let kSecAttrGeneric: CFString = "gena"
public let kSecAttrSecurityDomain: CFString = "sdmn"
public let kSecAttrServer: CFString = "srvr"
public let kSecAttrProtocol: CFString = "ptcl"
public let kSecAttrAuthenticationType: CFString = "atyp"
public let kSecAttrPort: CFString = "port"
public let kSecAttrPath: CFString = "path"

// MARK: Attributes of keys

public let kSecAttrApplicationLabel: CFString = "klbl"
public let kSecAttrApplicationTag: CFString = "atag"
public let kSecAttrKeyClass: CFString = "kcls"
public let kSecAttrKeyType: CFString = "type"
public let kSecAttrKeySizeInBits: CFString = "bsiz"
public let kSecAttrIsPermanent: CFString = "perm"

public let kSecAttrKeyClassPublic: CFString = "0"
public let kSecAttrKeyClassPrivate: CFString = "1"
public let kSecAttrKeyClassSymmetric: CFString = "2"
public let kSecAttrKeyTypeRSA: CFString = "42"
public let kSecAttrKeyTypeECSECPrimeRandom: CFString = "73"

// MARK: Values of attributes

/// These values are kept with an item, and have no effect: an item can be read while the device is locked.
public let kSecAttrAccessibleWhenUnlocked: CFString = "ak"
public let kSecAttrAccessibleAfterFirstUnlock: CFString = "ck"
public let kSecAttrAccessibleAlways: CFString = "dk"
public let kSecAttrAccessibleWhenUnlockedThisDeviceOnly: CFString = "aku"
public let kSecAttrAccessibleAfterFirstUnlockThisDeviceOnly: CFString = "cku"
public let kSecAttrAccessibleAlwaysThisDeviceOnly: CFString = "dku"
public let kSecAttrAccessibleWhenPasscodeSetThisDeviceOnly: CFString = "akpu"

public let kSecAttrProtocolFTP: CFString = "ftp "
public let kSecAttrProtocolHTTP: CFString = "http"
public let kSecAttrProtocolHTTPS: CFString = "htps"
public let kSecAttrProtocolIMAP: CFString = "imap"
public let kSecAttrProtocolIMAPS: CFString = "imps"
public let kSecAttrProtocolLDAP: CFString = "ldap"
public let kSecAttrProtocolSMTP: CFString = "smtp"
public let kSecAttrProtocolSSH: CFString = "ssh "

public let kSecAttrAuthenticationTypeDefault: CFString = "dflt"
public let kSecAttrAuthenticationTypeHTMLForm: CFString = "form"
public let kSecAttrAuthenticationTypeHTTPBasic: CFString = "http"
public let kSecAttrAuthenticationTypeHTTPDigest: CFString = "httd"

// MARK: What is searched

public let kSecMatchLimit: CFString = "m_Limit"
public let kSecMatchLimitOne: CFString = "m_LimitOne"
public let kSecMatchLimitAll: CFString = "m_LimitAll"
/// A list of persistent references.
public let kSecMatchItemList: CFString = "m_ItemList"

// MARK: What is returned

public let kSecReturnData: CFString = "r_Data"
public let kSecReturnAttributes: CFString = "r_Attributes"
public let kSecReturnPersistentRef: CFString = "r_PersistentRef"
/// Here there are no references to items: a query with `true` returns `errSecUnimplemented`.
public let kSecReturnRef: CFString = "r_Ref"

// MARK: Values of items

public let kSecValueData: CFString = "v_Data"
public let kSecValuePersistentRef: CFString = "v_PersistentRef"
/// Here there are no references to items: a query with one returns `errSecUnimplemented`.
public let kSecValueRef: CFString = "v_Ref"

// MARK: Use of the keychain

/// Has no effect: this is the only keychain of the device.
public let kSecUseDataProtectionKeychain: CFString = "nleg"
/// Has no effect: no item needs the user's authentication.
public let kSecUseAuthenticationUI: CFString = "u_AuthUI"
public let kSecUseAuthenticationUIAllow: CFString = "u_AuthUIA"
public let kSecUseAuthenticationUIFail: CFString = "u_AuthUIF"
public let kSecUseAuthenticationUISkip: CFString = "u_AuthUIS"
/// Has no effect: no item needs the user's authentication.
public let kSecUseOperationPrompt: CFString = "u_OpPrompt"
