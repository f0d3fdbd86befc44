package io.fibry.engine.jvm;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.fibry.Promise;
import io.fibry.text.Lines;
import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.Test;

class TextsTest {

  @Test
  void stringsAreInQuotesAndOthersAreNot() {
    assertEquals("\"before\"", MessageTexts.describe("before"));
    assertEquals("\"say \\\"no\\\"\"", MessageTexts.describe("say \"no\""));
    assertEquals("\"built\"", MessageTexts.describe(new StringBuilder("built")));
    assertEquals("5", MessageTexts.describe(5));
    assertEquals("[1, 2]", MessageTexts.describe(List.of(1, 2)));
    assertEquals("null", MessageTexts.describe(null));
  }

  @Promise("19.12")
  @Test
  void noMessageForgesALineOfALog() {
    record Forged(String text) {}

    assertEquals("\"a\\nERROR all is lost\\r\\t\\u0000\\u2028\"",
        MessageTexts.describe("a\nERROR all is lost\r\t\0\u2028"));
    assertEquals("Forged[text=a\\nb]", MessageTexts.describe(new Forged("a\nb")));
    assertEquals("Forged[text=a\\nb]", Lines.text(new Forged("a\nb")));
  }

  @Test
  void aLongTextIsCut() {
    String shown = MessageTexts.describe("\n".repeat(1_000));

    assertTrue(shown.startsWith("\"\\n\\n") && shown.endsWith("… (1000 characters)\""), shown);
    assertEquals(200, shown.split("\\\\n", -1).length - 1);
  }

  @Test
  void codeOfAUserHasAThreadOfItsOwn() {
    class Own extends Exception {
      private static final long serialVersionUID = 1;

      Own() {
        super("its own");
      }
    }
    var message = new Own() {
      @Override
      public String getMessage() {
        return Thread.currentThread().toString();
      }
    };
    var localized = new Own() {
      @Override
      public String getLocalizedMessage() {
        return Thread.currentThread().toString();
      }
    };
    var whole = new Own() {
      @Override
      public String toString() {
        return Thread.currentThread().toString();
      }
    };

    for (var one : List.of(message, localized, whole))
      assertFalse(MessageTexts.describe(one).contains(Thread.currentThread().toString()), MessageTexts.describe(one));
    assertEquals(Own.class.getName() + ": its own", MessageTexts.describe(new Own()));
    assertEquals("java.lang.IllegalStateException: bad", MessageTexts.describe(new IllegalStateException("bad")));
  }

  @Test
  void slowToStringIsShown() {
    var slow = new Object() {
      @Override
      public String toString() {
        long end = System.nanoTime() + 70_000_000;
        while (System.nanoTime() < end) Thread.onSpinWait();
        return "slow";
      }
    };

    assertEquals("slow", MessageTexts.describe(slow));
  }

  @Test
  void endlessToStringIsNotShown() {
    var over = new AtomicBoolean();
    var endless = new Object() {
      @Override
      public String toString() {
        while (!over.get()) Thread.onSpinWait();
        return "endless";
      }
    };

    String shown = MessageTexts.describe(endless);
    over.set(true);

    assertTrue(shown.endsWith("(its toString did not return in time)"), shown);
  }

  @Test
  void typeTextHidesContents() {
    record Secret(String text) {}

    assertEquals("Secret", MessageTexts.typeName(new Secret("x")));
    assertEquals("null", MessageTexts.typeName(null));
    assertTrue(MessageTexts.typeName(new Object() {}).contains("TextsTest$"), MessageTexts.typeName(new Object() {}));
  }
}
