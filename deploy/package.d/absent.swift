
// SPDX-License-Identifier: Apache-2.0
// The archive has only the sources of the libraries for authors.
let absent = Set(package.targets.filter { access("\(Context.packageDirectory)/\($0.path ?? "")", R_OK) != 0 }.map(\.name))
package.targets.removeAll { absent.contains($0.name) }
package.products.removeAll { ($0 as? Product.Library).map { !absent.isDisjoint(with: $0.targets) } ?? true }
