package io.fibry.sample;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.fibry.support.Child;
import io.fibry.support.Patience;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Path;
import java.util.List;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Starts the executable jar without a flag of the JVM. The build runs it after the jar is made. */
class ExecutableJarCheck {
  private static final Pattern PORT = Pattern.compile(".*Tomcat started on port (\\d+) .*");

  @Test
  void jarRunsActorsOnCarriersWithoutFlag(@TempDir Path folder) throws Exception {
    try (
        var shop = Child.java(List.of("-Dfibry.carriers=required", "-jar", System.getProperty("executable.jar"),
            "--server.port=0", "--fibry.store.folder=" + folder, "--fibry.ask-limit=" + Patience.LONG));
        var client = HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build()) {
      var port = PORT.matcher(shop.awaitLine(PORT.asMatchPredicate()));
      port.matches();

      var request = HttpRequest.newBuilder(URI.create("http://localhost:" + port.group(1) + "/orders/hat"))
          .timeout(Patience.LONG).build();
      var response = client.send(request, HttpResponse.BodyHandlers.ofString());

      assertEquals("{\"what\":\"hat\",\"number\":1}", response.body());
    }
  }
}
