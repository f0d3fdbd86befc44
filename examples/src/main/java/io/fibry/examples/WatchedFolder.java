package io.fibry.examples;

import io.fibry.stereotype.Stereotypes;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.SynchronousQueue;

/** An actor is notified of each file that changes in a folder. */
class WatchedFolder {
  public static void main(String[] args) throws Exception {
    var folder = Files.createTempDirectory("watched");
    var changedFiles = new SynchronousQueue<Path>();
    var watcher = Stereotypes.fibers().watchDirectory(folder, changedFiles::put);

    var file = Files.writeString(folder.resolve("hat.txt"), "a hat");
    System.out.println("changed: " + changedFiles.take().getFileName());

    watcher.kill(); // the actor may be about to report the same file again
    watcher.waitForExit();
    Files.delete(file);
    Files.delete(folder);
    System.out.println("watches no more");
  }
}
