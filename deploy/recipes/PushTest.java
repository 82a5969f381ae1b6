// SPDX-License-Identifier: Apache-2.0
// A test of a push backend against WidgetLab's push server, with the JDK and nothing else. It starts the container with
// the command `docker`; the GenericContainer of Testcontainers does the same.
//     java PushTest.java     // JDK 17 or later, in this folder; the image is `widgetlab`, or that of WIDGETLAB_IMAGE

import java.io.*;
import java.net.URI;
import java.net.http.*;
import java.security.*;
import java.security.cert.CertificateFactory;
import java.security.spec.PKCS8EncodedKeySpec;
import java.util.Base64;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import javax.net.ssl.*;

public class PushTest {
  static String docker(String... words) throws Exception {
    var command = Stream.concat(Stream.of("docker"), Stream.of(words)).toList();
    var process = new ProcessBuilder(command).redirectError(ProcessBuilder.Redirect.INHERIT).start();
    var output = new String(process.getInputStream().readAllBytes()).strip();
    if (process.waitFor() == 0) return output;
    throw new IOException(command + " failed");
  }

  // The first match in the output of a command, which is repeated until there is one. Your project has a JSON parser.
  static String find(String pattern, String... words) throws Exception {
    for (int tries = 0; tries < 300; tries++, Thread.sleep(100)) {
      var match = Pattern.compile(pattern).matcher(docker(words));
      if (match.find()) return match.group(1);
    }
    throw new IOException("timeout: " + pattern);
  }

  static String base64(byte[] bytes) { return Base64.getUrlEncoder().withoutPadding().encodeToString(bytes); }
  static String providerToken(String keyID, String teamID, String pem) throws Exception {
    var claims = "{\"iss\":\"%s\",\"iat\":%d}".formatted(teamID, System.currentTimeMillis() / 1000);
    var signed = base64("{\"alg\":\"ES256\",\"kid\":\"%s\"}".formatted(keyID).getBytes()) + "." + base64(claims.getBytes());
    var key = new PKCS8EncodedKeySpec(Base64.getMimeDecoder().decode(pem.replaceAll("-----.*-----", "")));
    var signature = Signature.getInstance("SHA256withECDSAinP1363Format");
    signature.initSign(KeyFactory.getInstance("EC").generatePrivate(key));
    signature.update(signed.getBytes());
    return signed + "." + base64(signature.sign());
  }

  static HttpClient client(InputStream authority) throws Exception {
    var keys = KeyStore.Builder.newInstance("PKCS12", null, new KeyStore.PasswordProtection(null)).getKeyStore();
    keys.setCertificateEntry("ca", CertificateFactory.getInstance("X.509").generateCertificate(authority));
    var trust = TrustManagerFactory.getInstance(TrustManagerFactory.getDefaultAlgorithm());
    trust.init(keys);
    var context = SSLContext.getInstance("TLS");
    context.init(null, trust.getTrustManagers(), null);
    return HttpClient.newBuilder().sslContext(context).build();
  }

  public static void main(String[] arguments) throws Exception {
    var server = docker("create", "-p", "127.0.0.1::2197", System.getenv().getOrDefault("WIDGETLAB_IMAGE", "widgetlab"), "widgetlab", "up");
    try {
      docker("cp", "widgetlab.yaml", server + ":/cluster/widgetlab.yaml");
      docker("start", server);
      find("(ready)", "logs", server);
      docker("exec", server, "widgetlab", "reload", "CaffeineTracker"); // places the widget, which requests a device token
      var token = find("\"token\" ?: ?\"(\\w+)\"", "exec", server, "widgetlab", "token", "list", "--json");
      String[] env = {"exec", server, "widgetlab", "env"}; // what a backend is configured with
      var key = docker("exec", server, "cat", find("APNS_KEY='(.*)'", env));
      var authorization = "bearer " + providerToken(find("APNS_KEY_ID='(.*)'", env), find("APNS_TEAM_ID='(.*)'", env), key);
      var client = client(new ByteArrayInputStream(docker("exec", server, "cat", find("APNS_CA='(.*)'", env)).getBytes()));
      var devices = "https://localhost:" + find(":(\\d+)", "port", server, "2197/tcp") + "/3/device/";
      for (String[] expected : new String[][] {{token, "HTTP_2 200 "}, {"00".repeat(32), "HTTP_2 400 {\"reason\":\"BadDeviceToken\"}"}}) {
        var push = HttpRequest.newBuilder(URI.create(devices + expected[0])).header("authorization", authorization)
            .header("apns-push-type", "widgets").header("apns-topic", "com.example.CaffeineTracker.push-type.widgets")
            .POST(HttpRequest.BodyPublishers.ofString("{\"aps\":{\"content-changed\":true}}")).build();
        var response = client.send(push, HttpResponse.BodyHandlers.ofString());
        var result = response.version() + " " + response.statusCode() + " " + response.body();
        System.out.println(result);
        if (!result.equals(expected[1])) throw new AssertionError("expected " + expected[1]);
      }
    } finally { docker("rm", "-f", server); }
  }
}
