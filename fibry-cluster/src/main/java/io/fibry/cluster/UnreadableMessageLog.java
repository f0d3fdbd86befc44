package io.fibry.cluster;

import io.fibry.cluster.spi.WireMessage;
import io.fibry.text.Lines;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import org.slf4j.LoggerFactory;

/**
 * Logs messages that nodes of this JVM cannot read, at most one a second. A program that publishes
 * them in masses would else hold up the threads that read them, since these would wait for the log.
 * Thread-safe.
 */
final class UnreadableMessageLog {
  private static final long LOG_INTERVAL_NANOS = TimeUnit.SECONDS.toNanos(1);
  private static final AtomicLong NEXT_LOG_AT = new AtomicLong(System.nanoTime()); // when the next line may be written
  private static final AtomicInteger OMITTED = new AtomicInteger(); // since the last line

  private UnreadableMessageLog() {}

  /**
   * Logs that messages cannot be read.
   *
   * @param messages the receiver, such as "'till' got a message"
   * @param sent contains the messages; a header, or the subject of its answers, has the name of the
   * sending node
   */
  static void log(String messages, WireMessage sent, Throwable why) {
    long now = System.nanoTime();
    long free = NEXT_LOG_AT.get();
    if (now - free < 0 || !NEXT_LOG_AT.compareAndSet(free, now + LOG_INTERVAL_NANOS)) {
      OMITTED.incrementAndGet();
      return;
    }
    int more = OMITTED.getAndSet(0);
    LoggerFactory.getLogger(Cluster.class).warn("{} that cannot be read{}{}{}", messages,
        sent.header(Route.FROM).map(node -> "; sent by node '" + Lines.line(node) + "'").orElse(""),
        sent.replyTo().map(to -> "; answers go to " + Lines.line(to)).orElse(""),
        more == 0 ? "" : "; " + more + " more since the last such line were not logged", why);
  }
}
