package io.fibry.durable;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.fibry.ActorSystem;
import io.fibry.Request;
import io.fibry.store.MemoryStore;
import io.fibry.support.Logged;
import io.fibry.support.Patience;
import io.fibry.support.UnreadableException;
import org.junit.jupiter.api.Test;

/** Tests code of a turn whose exception has a text that cannot be read. */
class UnreadableFailureTest {
  record Note(String text) implements Request<Note, String> {}

  private static final Durable<Note> NOTES =
      Durable.kind("notes", Note.class).state("").handler((notes, note, context) -> {
        context.afterCommit(() -> {
          throw new UnreadableException();
        });
        context.reply(note, notes);
        return notes + note.text();
      });

  @Test
  void unreadableFailureOfAfterCommitIsLogged() {
    try (var log = new Logged();
        var store = MemoryStore.open();
        var scope = ActorSystem.openScope("unreadable");
        var actor = NOTES.newActor(scope.named("ada"), store)) {
      assertEquals("", actor.ask(new Note("a"), Patience.LONG));
      assertEquals("a", actor.ask(new Note("b"), Patience.LONG));

      Patience.eventually(() -> log.lines("could not be logged").size() == 2);
    }
  }
}
