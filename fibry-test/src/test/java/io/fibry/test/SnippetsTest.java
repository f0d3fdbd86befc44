package io.fibry.test;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.fibry.DeadLetter.Reason;
import io.fibry.FailurePolicy;
import io.fibry.Request;
import io.fibry.io.Downloader;
import io.fibry.net.HttpException;
import io.fibry.net.HttpRoutes;
import io.fibry.net.HttpServer;
import java.io.IOException;
import java.net.URI;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Runs the regions of code that the Javadoc shows. */
class SnippetsTest {

  @Test
  void advanceOfTestScopeDeliversDelayedMessage() {
    // @start region="scope"
    try (var scope = TestScope.fibers()) {
      var reminded = new CopyOnWriteArrayList<String>();
      var clerk = scope.named("clerk").newActor((String of) -> reminded.add(of));
      clerk.sendMessageLater("lunch", Duration.ofHours(1));

      scope.advance(Duration.ofMinutes(59));
      assertEquals(List.of(), reminded);

      scope.advance(Duration.ofMinutes(1));
      assertEquals(List.of("lunch"), reminded);
      scope.assertNoDeadLetters();
    }
    // @end
  }

  @Test
  void advanceOfTestScopeRunsAllRestarts() {
    // @start region="backoff"
    try (var scope = TestScope.fibers()) {
      var tries = new AtomicInteger();
      var printer = scope.anonymous()
          .onFailure(FailurePolicy.restart().withBackoff(Duration.ofSeconds(1), Duration.ofMinutes(1)).withoutLog())
          .newActor((String page) -> {
            if (tries.incrementAndGet() < 4) throw new IOException("no paper");
          });
      for (int page = 0; page < 5; page++) printer.sendMessage("page " + page);

      scope.assertQuiet(); // after its first failure, the actor is suspended for a second
      assertEquals(1, tries.get());

      scope.advance(Duration.ofMinutes(1)); // three restarts, and the pages that waited
      assertEquals(5, tries.get());
    }
    // @end
  }

  @Test
  void downloaderFollowsTestClock() {
    // @start region="downloader"
    try (var scope = TestScope.fibers()) {
      var requests = new AtomicInteger();
      var routes = HttpRoutes.none().text("GET /page", exchange -> {
        if (requests.incrementAndGet() < 3) throw new HttpException(503, "busy");
        return "welcome";
      });
      var server = HttpServer.open(scope.named("web"), 0, routes, o -> o); // on a port of the machine
      var pages = Downloader.open(scope.named("pages"),
          o -> o.withBackoff(Duration.ofSeconds(1), Duration.ofMinutes(1)));
      var page = pages.sendMessageReturn(URI.create("http://localhost:" + server.port() + "/page"));

      scope.assertQuiet(); // the first attempt has failed, and the download waits for a second
      assertEquals(1, requests.get());

      scope.advance(Duration.ofSeconds(3)); // two more attempts, after one and two seconds
      assertEquals("welcome", page.join().text());
    }
    // @end
  }

  @Test
  void serverWithoutPortFollowsTestClock() throws Exception {
    // @start region="server"
    try (var scope = TestScope.fibers()) {
      var shop = scope.named("shop").newActorWithReturn((String what) -> "ordered " + what);
      var web = TestServer.open(scope, HttpRoutes.none()
          .text("POST /orders", exchange -> shop.ask(exchange.bodyAsText()))
          .text("GET /stuck", exchange -> {
            scope.clock().sleep(Duration.ofHours(1));
            return "late";
          }).withTimeLimit(Duration.ofSeconds(5)));

      var order = web.send(TestServer.TestRequest.of("POST /orders").body("tea"));
      assertEquals("ordered tea", order.text());

      var stuck = web.sendLater(TestServer.TestRequest.of("GET /stuck"));
      scope.advance(Duration.ofSeconds(5));
      assertEquals(504, stuck.get().status());
    }
    // @end
  }

  @Test
  void webSocketWithoutPortFollowsTestClock() {
    // @start region="websocket"
    try (var scope = TestScope.fibers()) {
      var web = TestServer.open(scope, HttpRoutes.none().webSocket("/chat/{name}", connection -> {
        for (var text : connection.texts())
          connection.textActor().sendMessage(connection.path("name") + ": " + text);
      }, o -> o.withMaxMessage(10)));

      var ann = web.webSocket("/chat/ann");
      ann.send("hello");
      assertEquals("ann: hello", ann.receiveText());

      scope.advance(Duration.ofHours(1)); // the client replies to the server's pings
      ann.send("a text that is too long");
      assertEquals(1009, ann.awaitClose().code());
      assertEquals(404, web.webSocketRefusal("/chat").status());
    }
    // @end
  }

  sealed interface Stock {}

  record Sold(String what) implements Stock {}

  record Left(String what) implements Stock, Request<Left, Integer> {}

  @Test
  void probeAnswersRequestsAndRecordsMessages(TestScope scope) {
    // @start region="probe"
    Probe<Stock> stock = Probe.<Stock>of(scope, "stock").answer(Left.class, left -> 1);
    var shop = scope.named("shop").newActor((String what) -> {
      if (stock.actor().ask(new Left(what)) > 0) stock.actor().sendMessage(new Sold(what));
    });

    shop.sendMessage("hat");

    stock.expect(new Left("hat"));
    stock.expect("a sale", message -> message instanceof Sold);
    stock.expectNothing();
    // @end
  }

  // @start region="extension"
  @RegisterExtension
  static final FibryExtension FIBRY = new FibryExtension().withoutDeadLetters();

  @Test
  void failedMessageIsDeadLetter(TestScope scope) {
    var kitchen = scope.anonymous().onFailure(FailurePolicy.resume().withoutLog()).newActor((String dish) -> {
      throw new IllegalArgumentException("no " + dish + " today");
    });

    kitchen.sendMessage("soup");

    scope.assertDeadLetter(Reason.FAILED, "soup"); // any other dead letter would fail the test
  } // the extension closes the scope
  // @end
}
