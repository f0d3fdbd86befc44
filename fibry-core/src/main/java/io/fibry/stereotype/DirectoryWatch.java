package io.fibry.stereotype;

import io.fibry.Actor;
import io.fibry.ActorBuilder;
import io.fibry.Exitable;
import io.fibry.FailurePolicy;
import io.fibry.Handler;
import io.fibry.Strategy;
import io.fibry.mailbox.Mailbox;
import io.fibry.mailbox.Overflow;
import io.fibry.spi.BlockBuilder;
import io.fibry.text.Lines;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.ClosedWatchServiceException;
import java.nio.file.DirectoryIteratorException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardWatchEventKinds;
import java.nio.file.WatchEvent;
import java.nio.file.WatchService;
import java.util.Objects;
import org.slf4j.LoggerFactory;

/**
 * The changes of a directory as messages. A fiber waits for changes, an actor handles them. Its end
 * closes the watch service, which wakes the fiber. The fiber's actor is made first: a scope ends
 * the latest actor first, and the waiting fiber would not see its pill.
 */
record DirectoryWatch(Path directory, WatchService changes, Actor<Path> handling) {
  private static final int CAPACITY = 1024;

  @SuppressWarnings("unchecked") // erased
  static Exitable start(ActorBuilder<?> how, Path directory, Handler<Path> changed) {
    Objects.requireNonNull(changed, "changed");
    var absolute = Objects.requireNonNull(directory, "directory").toAbsolutePath();
    if (!Files.isDirectory(absolute)) throw new IllegalArgumentException(
        absolute + " is not a directory; give an existing one");
    var builder = (ActorBuilder<Object>) how;
    // the builder's `around` is for changes only
    Actor<DirectoryWatch> waiting =
        BlockBuilder.of(builder).child("watch").excludedFromAccounts().mailbox(Mailbox.unbounded())
            .strategy(Strategy.FIBER)
            .onFailure(FailurePolicy.stop()).intercept((watch, next) -> ((DirectoryWatch) watch).run())
            .newActor(watch -> {});
    try {
      var changes = absolute.getFileSystem().newWatchService();
      waiting.closeOnExit(changes);
      absolute.register(changes, StandardWatchEventKinds.ENTRY_CREATE, StandardWatchEventKinds.ENTRY_MODIFY,
          StandardWatchEventKinds.ENTRY_DELETE);
      Actor<Path> handling =
          BlockBuilder.of(builder).defaultMailbox(Mailbox.bounded(CAPACITY, Overflow.BLOCK)).newActor(changed);
      handling.closeOnExit(waiting, changes); // the last first
      waiting.sendMessage(new DirectoryWatch(absolute, changes, handling));
      return handling;
    } catch (IOException unwatchable) {
      throw new UncheckedIOException("the system cannot watch " + absolute + ": " + Lines.message(unwatchable),
          unwatchable);
    } finally {
      waiting.sendPoisonPill();
    }
  }

  /** Until the directory is deleted, or the service closed. */
  private void run() throws Exception {
    try {
      do {
        var key = changes.take();
        for (var change : key.pollEvents()) tell(change);
        if (!key.reset()) return;
      } while (true);
    } catch (ClosedWatchServiceException ended) {
      // by the actor's end
    } finally {
      handling.sendPoisonPill();
    }
  }

  private void tell(WatchEvent<?> change) {
    if (change.kind() != StandardWatchEventKinds.OVERFLOW)
      handling.sendMessage(directory.resolve((Path) change.context()));
    else tellAll();
  }

  /** After an overflow. */
  private void tellAll() {
    handling.sendMessage(directory);
    try (var all = Files.newDirectoryStream(directory)) {
      all.forEach(handling::sendMessage);
    } catch (IOException | DirectoryIteratorException unreadable) {
      // a deleted directory ends the watch next
      LoggerFactory.getLogger("io.fibry.stereotype.Stereotypes").warn(
          "{} could not be listed after the system lost track of its changes", directory, unreadable);
    }
  }
}
