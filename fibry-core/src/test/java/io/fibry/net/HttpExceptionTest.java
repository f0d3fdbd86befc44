package io.fibry.net;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import io.fibry.ActorStoppedException;
import io.fibry.AskTimeoutException;
import io.fibry.CircuitOpenException;
import io.fibry.ExitReason;
import io.fibry.MailboxFullException;
import io.fibry.NoReplyException;
import io.fibry.RequestException;
import io.fibry.RequestOutcome;
import io.fibry.block.Throwables;
import io.fibry.testing.Promise;
import java.io.IOException;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ExecutionException;
import org.junit.jupiter.api.Test;

/** Tests that another web server, which calls {@code statusOf}, responds as our server does. */
class HttpExceptionTest extends HttpFixture {

  /** A request without an answer, as libraries that build on actors report it. */
  private static RequestException unanswered(RequestOutcome outcome) {
    return new RequestException("no answer", "shop", "hat", null, outcome) {
      private static final long serialVersionUID = 1;
    };
  }

  private static Map<Throwable, Integer> statuses() {
    var full = new MailboxFullException("full", "shop", "hat", 1);
    var statuses = new LinkedHashMap<Throwable, Integer>();
    statuses.put(full, 503);
    statuses.put(new CompletionException(full), 503);
    statuses.put(new ExecutionException(new CompletionException(full)), 503);
    statuses.put(new ActorStoppedException("ended", "shop", "hat", new ExitReason.Stopped()), 503);
    statuses.put(new CircuitOpenException("open", "shop", "hat"), 503);
    statuses.put(new AskTimeoutException("late", "shop", "hat", Duration.ofSeconds(1), null), 504);
    statuses.put(new AskTimeoutException("late", "shop", "hat", Duration.ofSeconds(1), null, RequestOutcome.NOT_DONE),
        504);
    statuses.put(unanswered(RequestOutcome.NOT_DONE), 503);
    statuses.put(unanswered(RequestOutcome.WILL_BE_DONE), 504);
    statuses.put(unanswered(RequestOutcome.UNKNOWN), 500);
    statuses.put(new NoReplyException("no reply", "shop", "hat"), 500);
    statuses.put(new HttpException(410, "sold out"), 410);
    statuses.put(new CompletionException(new HttpException(410, "sold out")), 500);
    statuses.put(new IllegalStateException(full), 500); // the handler's own failure
    statuses.put(new IOException("no disk"), 500);
    statuses.put(new AssertionError("a bug"), 500);
    return statuses;
  }

  @Promise("27.2")
  @Test
  void responseHasStatusOfFailureThatHandlerThrows() {
    var failures = statuses().keySet().toArray(Throwable[]::new);
    open(routes -> routes.text("/{number}", exchange -> {
      throw Throwables.<RuntimeException>sneakyThrow(failures[Integer.parseInt(exchange.path("number"))]);
    }));

    int number = 0;
    for (var expected : statuses().entrySet()) {
      var text = expected.getKey().toString();
      assertEquals(expected.getValue(), HttpException.statusOf(expected.getKey()), text);
      var response = send(request("/" + number++));
      assertEquals(expected.getValue(), response.statusCode(), text);
      assertEquals(expected.getValue() == 503, response.headers().firstValue("Retry-After").isPresent(), text);
    }
  }

  @Test
  void statusOfNullIsRefused() {
    assertEquals("failure", assertThrows(NullPointerException.class, () -> HttpException.statusOf(null)).getMessage());
  }
}
