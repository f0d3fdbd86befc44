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

/** HTTP/2: another server, which runs each request on a virtual thread, asks the same actors. */
class BehindHelidon {
  private static final Logger HELIDON = Logger.getLogger("io.helidon"); // kept, or its level would be forgotten

  public static void main(String[] args) throws Exception {
    HELIDON.setLevel(Level.WARNING);
    try (var shop = ActorSystem.named("shop").mailbox(Mailbox.bounded(200, Overflow.REJECT))
        .newActorWithReturn((String what) -> "12 of " + what); var client = HttpClient.newHttpClient()) {
      var routes = HttpRouting.builder()
          .get("/stock/{what}",
              (request, answer) -> answer.send(shop.ask(request.path().pathParameters().get("what"))))
          .error(MailboxFullException.class,
              (request, answer, full) -> answer.status(Status.SERVICE_UNAVAILABLE_503).send())
          .error(AskTimeoutException.class,
              (request, answer, late) -> answer.status(Status.GATEWAY_TIMEOUT_504).send());
      var server = WebServer.builder().host("localhost").addRouting(routes).build().start();
      try {
        var question = HttpRequest.newBuilder(URI.create("http://localhost:" + server.port() + "/stock/tea")).build();
        var answer = client.send(question, BodyHandlers.ofString());
        System.out.println(answer.version() + ": " + answer.body());
      } finally {
        server.stop(); // after the running requests; then the actor ends
      }
    }
  }
}
