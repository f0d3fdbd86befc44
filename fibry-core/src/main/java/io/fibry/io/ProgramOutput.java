package io.fibry.io;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

/**
 * The output of a program, stored up to a limit. A thread reads the whole output, so the program
 * never waits until its output is read.
 */
final class ProgramOutput {
  private final int maxBytes;
  private final ByteArrayOutputStream content = new ByteArrayOutputStream(); // guarded by this
  private boolean isTruncated; // guarded by this
  private final CountDownLatch outputEnd = new CountDownLatch(1);

  private ProgramOutput(int maxBytes) {
    this.maxBytes = maxBytes;
  }

  static ProgramOutput of(InputStream in, int maxBytes) {
    var output = new ProgramOutput(maxBytes);
    start("program-output", () -> output.read(in));
    return output;
  }

  /** Gives a program its input. */
  static void feed(OutputStream stream, byte[] input) {
    Runnable writer = () -> {
      try (stream) {
        stream.write(input);
      } catch (IOException notRead) {
        // a program need not read its input
      }
    };
    if (input.length == 0) writer.run();
    else start("program-input", writer);
  }

  private static void start(String name, Runnable code) {
    Thread.ofPlatform().daemon().name(name).inheritInheritableThreadLocals(false).start(code);
  }

  private void read(InputStream in) {
    var buffer = new byte[8_192];
    try (in) {
      for (int n = in.read(buffer); n >= 0; n = in.read(buffer)) append(buffer, n);
    } catch (IOException closed) {
      // the end of the program closes the stream
    } finally {
      outputEnd.countDown();
    }
  }

  private synchronized void append(byte[] buffer, int n) {
    int accepted = Math.min(n, maxBytes - content.size());
    content.write(buffer, 0, accepted);
    isTruncated |= accepted < n;
  }

  /** Waits for the end of the output. Returns false if it did not end in time. */
  boolean await(long millis) throws InterruptedException {
    return outputEnd.await(millis, TimeUnit.MILLISECONDS);
  }

  synchronized byte[] bytes() {
    return content.toByteArray();
  }

  synchronized boolean isTruncated() {
    return isTruncated;
  }
}
