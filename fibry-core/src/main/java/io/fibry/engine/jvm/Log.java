package io.fibry.engine.jvm;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The engine's log, and messages as text. */
public final class Log {
  public static final Logger LOG = LoggerFactory.getLogger("io.fibry.ActorSystem");
  private static final int LONGEST = 200;
  private static final int TEXT_TIME = 50; // ms
  private static final int MOST_UNFINISHED = 4; // per class of messages
  // before Java 24 a fiber that waits for a monitor holds its carrier
  private static final Consumer<Runnable> START =
      Runtime.version().feature() < 24 ? Threads::startPlatformThread : Threads::startFiber;
  // texts being made
  private static final ClassValue<AtomicInteger> UNFINISHED = new ClassValue<>() {
    @Override
    protected AtomicInteger computeValue(Class<?> type) {
      return new AtomicInteger();
    }
  };

  private Log() {}

  /**
   * The text of a message, cut if long; throws nothing. A {@code toString} is user code, and may
   * want a lock that a handler holds for ever: so it has a thread of its own and 50 ms.
   */
  public static String shown(Object message) {
    return needsNoCode(message) ? cut(String.valueOf(message)) : inTime(message);
  }

  private static boolean needsNoCode(Object message) {
    return message == null || message instanceof String || message instanceof Boolean || message instanceof Character
        || message instanceof Class
        || message instanceof Number && message.getClass().getName().startsWith("java.lang.");
  }

  private static String inTime(Object message) {
    var unfinished = UNFINISHED.get(message.getClass());
    if (unfinished.get() >= MOST_UNFINISHED) return late(message);
    unfinished.incrementAndGet();
    var text = new CompletableFuture<String>();
    try {
      START.accept(() -> {
        text.complete(text(message));
        unfinished.decrementAndGet();
      });
    } catch (Throwable noThread) {
      unfinished.decrementAndGet();
      return late(message);
    }
    return await(text, message);
  }

  private static String await(CompletableFuture<String> text, Object message) {
    boolean interrupted = Thread.interrupted();
    try {
      return text.get(TEXT_TIME, TimeUnit.MILLISECONDS);
    } catch (InterruptedException cut) {
      interrupted = true;
    } catch (ExecutionException | TimeoutException late) { // as below
    } finally {
      if (interrupted) Thread.currentThread().interrupt();
    }
    return late(message);
  }

  private static String late(Object message) {
    return message.getClass().getName() + " (its toString did not return in time)";
  }

  /** On this thread, where the text may look at what belongs to the thread. */
  public static String text(Object message) {
    try {
      return cut(String.valueOf(message));
    } catch (Throwable unprintable) { // a ring of toStrings overflows the stack
      return message.getClass().getName() + " (its toString threw " + unprintable.getClass().getName() + ")";
    }
  }

  private static String cut(String text) {
    return text.length() <= LONGEST ? text : text.substring(0, LONGEST) + "… (" + text.length() + " characters)";
  }
}
