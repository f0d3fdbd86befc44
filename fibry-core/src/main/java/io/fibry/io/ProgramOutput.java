package io.fibry.io;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

/** A program's output, kept up to a limit; a thread reads it to the end, so writes never wait. */
final class ProgramOutput {
  private final int most;
  private final ByteArrayOutputStream kept = new ByteArrayOutputStream(); // guarded by this
  private boolean truncated; // guarded by this
  private final CountDownLatch end = new CountDownLatch(1);

  private ProgramOutput(int most) {
    this.most = most;
  }

  static ProgramOutput of(InputStream in, int most) {
    var output = new ProgramOutput(most);
    start("program-output", () -> output.read(in));
    return output;
  }

  /** Gives a program its input. */
  static void feed(OutputStream to, byte[] input) {
    Runnable feeding = () -> {
      try (to) {
        to.write(input);
      } catch (IOException unread) {
        // a program need not read its input
      }
    };
    if (input.length == 0) feeding.run();
    else start("program-input", feeding);
  }

  private static void start(String name, Runnable code) {
    Thread.ofPlatform().daemon().name(name).inheritInheritableThreadLocals(false).start(code);
  }

  private void read(InputStream in) {
    var buffer = new byte[8_192];
    try (in) {
      for (int n = in.read(buffer); n >= 0; n = in.read(buffer)) keep(buffer, n);
    } catch (IOException closed) {
      // by the end of the program
    } finally {
      end.countDown();
    }
  }

  private synchronized void keep(byte[] buffer, int n) {
    int room = Math.min(n, most - kept.size());
    kept.write(buffer, 0, room);
    truncated |= room < n;
  }

  /** Returns false if it did not end in time. */
  boolean await(long millis) throws InterruptedException {
    return end.await(millis, TimeUnit.MILLISECONDS);
  }

  synchronized byte[] bytes() {
    return kept.toByteArray();
  }

  synchronized boolean truncated() {
    return truncated;
  }
}
