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
import io.fibry.text.SafeLogger;
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

/**
 * Sends the changes of a directory as messages. A reader, which is an actor on a fiber, waits for
 * changes, and the user's actor handles them. The end of the user's actor closes the watch service,
 * which wakes the reader. A reader that waits for changes does not see its poison pill. Therefore
 * the reader is made first: a closing scope ends the newest actor first, so the user's actor wakes
 * the reader before the scope ends the reader.
 *
 * @param directory the absolute path of the directory
 * @param watchService the changes that the file system reports
 * @param changeHandler the user's actor
 */
record DirectoryWatch(Path directory, WatchService watchService, Actor<Path> changeHandler) {
  private static final int CAPACITY = 1024;

  @SuppressWarnings("unchecked") // the message type of a builder is erased
  static Exitable start(ActorBuilder<?> builder, Path directory, Handler<Path> handler) {
    Objects.requireNonNull(handler, "handler");
    var path = Objects.requireNonNull(directory, "directory").toAbsolutePath();
    if (!Files.isDirectory(path)) throw new IllegalArgumentException(
        path + " is not a directory; give an existing one");
    var objectBuilder = (ActorBuilder<Object>) builder;
    // The interceptors of the user are for changes only. The reader does not run them, because this
    // interceptor does not call `next`.
    Actor<DirectoryWatch> reader =
        BlockBuilder.of(objectBuilder).child("watch").excludedFromAccounts().mailbox(Mailbox.unbounded())
            .strategy(Strategy.FIBER)
            .onFailure(FailurePolicy.stop()).intercept((watch, next) -> ((DirectoryWatch) watch).run())
            .newActor(watch -> {});
    try {
      var watchService = path.getFileSystem().newWatchService();
      reader.closeOnExit(watchService);
      path.register(watchService, StandardWatchEventKinds.ENTRY_CREATE, StandardWatchEventKinds.ENTRY_MODIFY,
          StandardWatchEventKinds.ENTRY_DELETE);
      Actor<Path> changeHandler =
          BlockBuilder.of(objectBuilder).defaultMailbox(Mailbox.bounded(CAPACITY, Overflow.BLOCK)).newActor(handler);
      changeHandler.closeOnExit(reader, watchService); // closed in reverse order: the watch service first
      reader.sendMessage(new DirectoryWatch(path, watchService, changeHandler));
      return changeHandler;
    } catch (IOException failure) {
      throw new UncheckedIOException("the system cannot watch " + path + ": " + Lines.message(failure), failure);
    } finally {
      reader.sendPoisonPill();
    }
  }

  /** Sends changes until the directory is deleted or the watch service is closed. */
  private void run() throws Exception {
    try {
      do {
        var key = watchService.take();
        for (var change : key.pollEvents()) send(change);
        if (!key.reset()) return;
      } while (true);
    } catch (ClosedWatchServiceException closed) {
      // the user's actor has ended, and has closed the watch service
    } finally {
      changeHandler.sendPoisonPill();
    }
  }

  private void send(WatchEvent<?> change) {
    if (change.kind() != StandardWatchEventKinds.OVERFLOW)
      changeHandler.sendMessage(directory.resolve((Path) change.context()));
    else sendDirectoryAndFiles();
  }

  /** Called when the system has lost changes, so that any file may have changed. */
  private void sendDirectoryAndFiles() {
    changeHandler.sendMessage(directory);
    try (var files = Files.newDirectoryStream(directory)) {
      files.forEach(changeHandler::sendMessage);
    } catch (IOException | DirectoryIteratorException failure) {
      // if the directory was deleted, `run` ends the watch after this method
      SafeLogger.of("io.fibry.stereotype.Stereotypes").warn(
          "{} could not be listed after the system lost track of its changes", directory, failure);
    }
  }
}
