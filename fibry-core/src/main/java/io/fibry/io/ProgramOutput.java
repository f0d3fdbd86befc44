package io.fibry.io;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

/**
 * What a program writes, read to its end on a thread of its own so that it never waits for us, and
 * kept up to a limit.
 */
final class ProgramOutput {
  private final int most;
  private final ByteArrayOutputStream kept = new ByteArrayOutputStream(); // guarded by this
  private boolean more; // than is kept; guarded by this
  private final CountDownLatch end = new CountDownLatch(1);

  private ProgramOutput(int most) {
    this.most = most;
  }

  static ProgramOutput of(InputStream in, int most) {
    var output = new ProgramOutput(most);
    start("program-output", () -> output.read(in));
    return output;
  }

  /** Lets it have this to read, then nothing more. */
  static void feed(OutputStream to, byte[] input) {
    if (input.length == 0) close(to);
    else
      start("program-input", () -> {
        try (to) {
          to.write(input);
        } catch (IOException unread) {
          // it has ended, or closed its input, without reading all of it: its right
        }
      });
  }

  private static void close(OutputStream to) {
    try {
      to.close();
    } catch (IOException gone) {
      // it has ended already
    }
  }

  private static void start(String name, Runnable code) {
    Thread.ofPlatform().daemon().name(name).inheritInheritableThreadLocals(false).start(code);
  }

  private void read(InputStream in) {
    var buffer = new byte[8_192];
    try (in) {
      for (int n = in.read(buffer); n >= 0; n = in.read(buffer)) keep(buffer, n);
    } catch (IOException closed) {
      // by its end
    } finally {
      end.countDown();
    }
  }

  private synchronized void keep(byte[] buffer, int n) {
    int room = Math.min(n, most - kept.size());
    kept.write(buffer, 0, room);
    more |= room < n;
  }

  /** False if its end did not come by then. */
  boolean await(long nanoTime) throws InterruptedException {
    return end.await(nanoTime - System.nanoTime(), TimeUnit.NANOSECONDS);
  }

  synchronized byte[] bytes() {
    return kept.toByteArray();
  }

  synchronized boolean truncated() {
    return more;
  }
}
