package io.fibry.examples;

import io.fibry.stereotype.Stereotypes;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.SynchronousQueue;

/** An actor is notified of each file that changes in a folder. */
class WatchedFolder {
  public static void main(String[] args) throws Exception {
    var folder = Files.createTempDirectory("watched");
    var changed = new SynchronousQueue<Path>();
    var watch = Stereotypes.fibers().watchDirectory(folder, changed::put);

    var file = Files.writeString(folder.resolve("hat.txt"), "a hat");
    System.out.println("changed: " + changed.take().getFileName());

    watch.kill(); // it may be about to report the same file again
    watch.waitForExit();
    Files.delete(file);
    Files.delete(folder);
    System.out.println("watches no more");
  }
}
