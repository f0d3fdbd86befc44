package io.fibry.durable;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;

import io.fibry.ActorScope;
import io.fibry.ActorSystem;
import io.fibry.FailurePolicy;
import io.fibry.Request;
import io.fibry.codec.Codec;
import io.fibry.codec.CodecException;
import io.fibry.pool.Entities;
import io.fibry.store.MemoryStore;
import java.time.Duration;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/**
 * Tests that an event which a codec cannot encode or decode affects only the actor of this event.
 */
class UnreadableTest {
  record Add(String text) implements Request<Add, Integer> {}

  interface Older {
    sealed interface Event {}
    record Kept(String text) implements Event {}
    record Gone(String text) implements Event {}
  }

  interface Newer {
    sealed interface Event {}
    record Kept(String text) implements Event {}
  }

  private static final Durable.Builder<Add> KIND = Durable.kind("list", Add.class);
  private static final Durable<Add> OLDER_KIND =
      KIND.events(Older.Event.class, 0, (Integer count, Older.Event event) -> count + 1)
          .handler((count, add, context) -> context.reply(add, context.persist(
              add.text().equals("gone") ? new Older.Gone(add.text()) : new Older.Kept(add.text()))));
  private static final Durable<Add> NEWER_KIND =
      KIND.events(Newer.Event.class, 0, (Integer count, Newer.Event event) -> count + 1)
          .handler((count, add, context) -> context.reply(add, context.persist(new Newer.Kept(add.text()))));

  private final ActorScope scope = ActorSystem.openScope("unreadable");
  private final MemoryStore store = MemoryStore.open();

  @AfterEach
  void close() {
    scope.close();
    store.close();
  }

  private Entities<String, Add> lists(Durable<Add> kind) {
    return kind.entities(scope.anonymous().onFailure(FailurePolicy.resume()), store, Duration.ofMinutes(5));
  }

  @Test
  void unknownEventFailsOnlyItsActor() {
    try (var lists = lists(OLDER_KIND)) {
      assertEquals(1, lists.actor("ada").ask(new Add("gone")));
      assertEquals(1, lists.actor("grace").ask(new Add("kept")));
    }

    try (var lists = lists(NEWER_KIND)) {
      for (int attempt = 0; attempt < 2; attempt++) {
        var failure = assertThrows(CodecException.class, () -> lists.actor("ada").ask(new Add("kept")));
        assertEquals("turn 1 of list 'ada' cannot be read: "
            + "Event: no type named 'Gone' is known; the types of Event are [Kept], at byte 6", failure.getMessage());
      }
      assertEquals(2, lists.actor("grace").ask(new Add("kept")));
    }
    try (var lists = lists(OLDER_KIND)) {
      assertEquals(2, lists.actor("ada").ask(new Add("gone")));
    }
  }

  @Test
  void codecErrorFailsOnlyItsTurn() {
    var error = new StackOverflowError("made up");
    var texts = Codec.of(String.class);
    var codec = new Codec<String>() {
      @Override
      public byte[] encode(String value) {
        if (value.equals("deep")) throw error;
        return texts.encode(value);
      }

      @Override
      public String decode(byte[] bytes) {
        return texts.decode(bytes);
      }
    };
    var kind = KIND.events(codec, 0, (Integer count, String text) -> count + 1)
        .handler((count, add, context) -> context.reply(add, context.persist(add.text())));
    try (var lists = lists(kind)) {
      var ada = lists.actor("ada");
      assertEquals(1, ada.ask(new Add("flat")));

      assertSame(error, assertThrows(StackOverflowError.class, () -> ada.ask(new Add("deep"))));

      assertEquals(2, ada.ask(new Add("flat")));
      assertEquals(1, lists.actor("grace").ask(new Add("flat")));
    }
  }
}
