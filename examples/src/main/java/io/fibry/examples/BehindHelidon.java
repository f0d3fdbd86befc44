package io.fibry.examples;

import io.fibry.ActorSystem;
import io.fibry.AskTimeoutException;
import io.fibry.MailboxFullException;
import io.fibry.mailbox.Mailbox;
import io.fibry.mailbox.Overflow;
import io.helidon.http.Status;
import io.helidon.webserver.WebServer;
import io.helidon.webserver.http.HttpRouting;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse.BodyHandlers;
import java.util.logging.Level;
import java.util.logging.Logger;

/** Helidon serves HTTP/2, and asks an actor on the virtual thread of each request. */
class BehindHelidon {
  private static final Logger HELIDON = Logger.getLogger("io.helidon"); // a collected logger would lose its level

  public static void main(String[] args) throws Exception {
    HELIDON.setLevel(Level.WARNING);
    try (var shop = ActorSystem.named("shop").mailbox(Mailbox.bounded(200, Overflow.REJECT))
        .newActorWithReturn((String item) -> "12 of " + item); var client = HttpClient.newHttpClient()) {
      var routes = HttpRouting.builder()
          .get("/stock/{item}",
              (request, response) -> response.send(shop.ask(request.path().pathParameters().get("item"))))
          .error(MailboxFullException.class,
              (request, response, failure) -> response.status(Status.SERVICE_UNAVAILABLE_503).send())
          .error(AskTimeoutException.class,
              (request, response, failure) -> response.status(Status.GATEWAY_TIMEOUT_504).send());
      var server = WebServer.builder().host("localhost").addRouting(routes).build().start();
      try {
        var request = HttpRequest.newBuilder(URI.create("http://localhost:" + server.port() + "/stock/tea")).build();
        var response = client.send(request, BodyHandlers.ofString());
        System.out.println(response.version() + ": " + response.body());
      } finally {
        server.stop(); // waits for the running requests; then the actor ends
      }
    }
  }
}
