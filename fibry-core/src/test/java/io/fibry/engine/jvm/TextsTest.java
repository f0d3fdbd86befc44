package io.fibry.engine.jvm;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.fibry.AskTimeoutException;
import io.fibry.support.Patience;
import io.fibry.testing.Promise;
import io.fibry.text.Lines;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Supplier;
import org.junit.jupiter.api.Test;

class TextsTest {

  @Test
  void describeQuotesOnlyCharSequences() {
    assertEquals("\"before\"", MessageTexts.describe("before"));
    assertEquals("\"say \\\"no\\\"\"", MessageTexts.describe("say \"no\""));
    assertEquals("\"built\"", MessageTexts.describe(new StringBuilder("built")));
    assertEquals("5", MessageTexts.describe(5));
    assertEquals("[1, 2]", MessageTexts.describe(List.of(1, 2)));
    assertEquals("null", MessageTexts.describe(null));
  }

  @Promise("19.12")
  @Test
  void messageCannotForgeLogLine() {
    record Forged(String text) {}

    assertEquals("\"a\\nERROR all is lost\\r\\t\\u0000\\u2028\"",
        MessageTexts.describe("a\nERROR all is lost\r\t\0\u2028"));
    assertEquals("Forged[text=a\\nb]", MessageTexts.describe(new Forged("a\nb")));
    assertEquals("Forged[text=a\\nb]", Lines.text(new Forged("a\nb")));
  }

  @Test
  void longTextIsShortened() {
    String text = MessageTexts.describe("\n".repeat(1_000));

    assertTrue(text.startsWith("\"\\n\\n") && text.endsWith("… (1000 characters)\""), text);
    assertEquals(200, text.split("\\\\n", -1).length - 1);
  }

  @Test
  void describeCallsTextMethodsOfUsersExceptionOnOtherThread() {
    class UserException extends Exception {
      private static final long serialVersionUID = 1;

      UserException() {
        super("user text");
      }
    }
    var withMessage = new UserException() {
      @Override
      public String getMessage() {
        return Thread.currentThread().toString();
      }
    };
    var withLocalizedMessage = new UserException() {
      @Override
      public String getLocalizedMessage() {
        return Thread.currentThread().toString();
      }
    };
    var withToString = new UserException() {
      @Override
      public String toString() {
        return Thread.currentThread().toString();
      }
    };

    for (var exception : List.of(withMessage, withLocalizedMessage, withToString))
      assertFalse(MessageTexts.describe(exception).contains(Thread.currentThread().toString()),
          MessageTexts.describe(exception));
    assertEquals(UserException.class.getName() + ": user text", MessageTexts.describe(new UserException()));
    assertEquals("java.lang.IllegalStateException: bad", MessageTexts.describe(new IllegalStateException("bad")));
  }

  @Test
  void describeShowsTextOfSlowToString() {
    var slowObject = new Object() {
      @Override
      public String toString() {
        long end = System.nanoTime() + 70_000_000;
        while (System.nanoTime() < end) Thread.onSpinWait();
        return "slow";
      }
    };

    assertEquals("slow", MessageTexts.describe(slowObject));
  }

  @Test
  void describeSaysThatEndlessToStringDidNotReturn() {
    var testEnded = new AtomicBoolean();
    var endlessObject = new Object() {
      @Override
      public String toString() {
        while (!testEnded.get()) Thread.onSpinWait();
        return "endless";
      }
    };

    String text = MessageTexts.describe(endlessObject);
    testEnded.set(true);

    assertTrue(text.endsWith("(its toString did not return in time)"), text);
  }

  /** The end has the duration and the line of code. */
  @Promise("19.12")
  @Test
  void describeShowsEndOfException() {
    var text =
        "actor 'stock' did not answer \1 within 1 s: " + "its handler had begun; ".repeat(20) + "at Stock.java:7";
    var timeout = new AskTimeoutException(text, "stock", "jam", Duration.ofSeconds(1), null);

    for (var failure : List.of(timeout, new CompletionException(timeout))) {
      var described = MessageTexts.describe(failure);

      assertTrue(described.contains("did not answer \"jam\" within") && described.endsWith("; at Stock.java:7"),
          described);
    }
    assertTrue(MessageTexts.describe(new IllegalStateException("x".repeat(3_000))).endsWith("… (3033 characters)"));
  }

  /** Many exchanges of a server may fail at the same time. */
  @Promise("19.12")
  @Test
  void exceptionsOfRequestsAreDescribedByManyThreadsAtOnce() {
    assertDescribedByManyThreads(
        () -> new AskTimeoutException("late: \1", "stock", "jam", Duration.ofSeconds(1), null),
        AskTimeoutException.class.getName() + ": late: \"jam\"");
  }

  @Test
  void messagesAreDescribedByManyThreadsAtOnce() {
    record Order(String item) {}

    assertDescribedByManyThreads(() -> new Order("jam"), "Order[item=jam]");
  }

  private static void assertDescribedByManyThreads(Supplier<Object> message, String expected) {
    var texts = ConcurrentHashMap.<String>newKeySet();
    try (var threads = Executors.newFixedThreadPool(16)) {
      for (int i = 0; i < 16; i++) threads.execute(() -> {
        for (int k = 0; k < 100; k++) texts.add(MessageTexts.describe(message.get()));
      });
    }
    assertEquals(Set.of(expected), texts);
  }

  @Test
  void hangingTextsOccupyFourThreads() {
    var testEnded = new CountDownLatch(1);
    var started = new AtomicInteger();
    var hangingObject = new Object() {
      @Override
      public String toString() {
        started.incrementAndGet();
        Patience.await(testEnded);
        return "late";
      }
    };
    try (var threads = Executors.newFixedThreadPool(16)) {
      for (int i = 0; i < 32; i++) threads.execute(() -> MessageTexts.describe(hangingObject));
    }
    assertEquals(4, started.get());
    testEnded.countDown();

    // the end of the four calls makes the next text possible
    Patience.eventually("no text", () -> MessageTexts.describe(hangingObject).equals("late"));
  }

  @Test
  void typeNameShowsClassInsteadOfContents() {
    record Secret(String text) {}

    assertEquals("Secret", MessageTexts.typeName(new Secret("x")));
    assertEquals("null", MessageTexts.typeName(null));
    assertTrue(MessageTexts.typeName(new Object() {}).contains("TextsTest$"), MessageTexts.typeName(new Object() {}));
  }
}
