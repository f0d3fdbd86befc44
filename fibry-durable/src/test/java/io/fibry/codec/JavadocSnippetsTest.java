package io.fibry.codec;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.util.List;
import org.junit.jupiter.api.Test;

/** Tests the code that the Javadoc shows. */
class JavadocSnippetsTest {
  // @start region="codec"
  sealed interface Event {}

  record Deposited(long cents, List<String> notes) implements Event {}

  record Closed() implements Event {}

  static final Codec<Event> EVENTS = Codec.of(Event.class);
  // @end

  static class Later {
    // @start region="forms"
    sealed interface Event {}

    record Deposited(long cents, String currency) implements Event {}

    record DepositedOnce(long cents) {} // the form before there were currencies

    record Closed() implements Event {}

    static final Codec<Event> EVENTS = Codec.of(Event.class,
        forms -> forms.readOld("Deposited", DepositedOnce.class, old -> new Deposited(old.cents(), "EUR"))
            .named(Closed.class, "AccountClosed"));
    // @end
  }

  @Test
  void codecDecodesItsOwnBytes() {
    var event = new Deposited(500, List.of("a gift"));

    assertEquals(event, EVENTS.decode(EVENTS.encode(event)));
  }

  @Test
  void oldFormIsReadAsCurrentValue() {
    byte[] old = EVENTS.encode(new Deposited(500, List.of()));

    assertEquals(new Later.Deposited(500, "EUR"), Later.EVENTS.decode(old));
  }
}
