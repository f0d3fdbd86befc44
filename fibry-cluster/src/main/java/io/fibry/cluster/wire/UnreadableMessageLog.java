package io.fibry.cluster.wire;

import io.fibry.cluster.spi.WireMessage;
import io.fibry.text.Lines;
import io.fibry.text.SafeLogger;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;

/**
 * Logs messages that nodes of this JVM cannot read, at most one a second. Otherwise a program that
 * publishes many such messages would slow down their readers, which would wait for the log.
 * Thread-safe.
 */
public final class UnreadableMessageLog {
  private static final long LOG_INTERVAL_NANOS = TimeUnit.SECONDS.toNanos(1);
  private static final AtomicLong NEXT_LOG_AT = new AtomicLong(System.nanoTime()); // when the next line may be written
  private static final AtomicInteger OMITTED_LINES = new AtomicInteger(); // not logged since the last line

  private UnreadableMessageLog() {}

  /**
   * Logs that messages cannot be read.
   *
   * @param lineStart the beginning of the line: the receiver and its message, such as "'till' got a
   * message"
   * @param wire the unreadable message; a header, or the subject of its answers, has the name of
   * the sending node
   */
  public static void log(String lineStart, WireMessage wire, Throwable failure) {
    long now = System.nanoTime();
    long nextLogAt = NEXT_LOG_AT.get();
    if (now - nextLogAt < 0 || !NEXT_LOG_AT.compareAndSet(nextLogAt, now + LOG_INTERVAL_NANOS)) {
      OMITTED_LINES.incrementAndGet();
      return;
    }
    int omittedLines = OMITTED_LINES.getAndSet(0);
    SafeLogger.of("io.fibry.cluster.Cluster").warn("{} that cannot be read{}{}{}", lineStart,
        wire.header(Destination.FROM).map(node -> "; sent by node '" + Lines.line(node) + "'").orElse(""),
        wire.replyTo().map(replyTo -> "; answers go to " + Lines.line(replyTo)).orElse(""),
        omittedLines == 0 ? "" : "; " + omittedLines + " more since the last such line were not logged", failure);
  }
}
