package io.fibry.examples;

import io.fibry.stereotype.Stereotypes;
import java.net.URI;

/**
 * An HTTP server in one line. With a port as argument, it serves until it is stopped, for example
 * for {@code ab -k} or {@code wrk}.
 */
class HttpHello {
  public static void main(String[] args) throws Exception {
    int port = args.length == 0 ? 0 : Integer.parseInt(args[0]);

    var server = Stereotypes.def().embeddedHttpServer(port, exchange -> "Hello World!");

    if (port == 0) {
      try (var response = URI.create("http://localhost:" + server.port() + "/").toURL().openStream()) {
        System.out.println(new String(response.readAllBytes()));
      }
      server.close();
    }
    server.waitForExit();
  }
}
