package io.fibry.simulation.agent;

import io.fibry.simulation.agent.Redirect.Jdks;
import io.fibry.simulation.agent.Redirect.Where;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;

/** The one table of what is redirected, and where to. */
final class Redirects {
  private static final String TAP = "io/fibry/simulation/tap/";
  private static final String CONCURRENT = "java/util/concurrent/";
  private static final String CHANNELS = "java/nio/channels/";
  private static final Where EVERYWHERE = type -> true;
  /**
   * The virtual thread's own class is left out: its hash code is its number, and must never change.
   */
  private static final Where OUTSIDE = type -> !type.equals("java/lang/VirtualThread");

  /** All rows, of all JDKs. */
  static final List<Redirect> TABLE = List.of(
      // Clocks
      call("java/lang/System", "nanoTime", "()J", "Clocks"),
      call("java/lang/System", "currentTimeMillis", "()J", "Clocks"),
      call("jdk/internal/misc/VM", "getNanoTimeAdjustment", "(J)J", "Clocks"),
      call("java/lang/Thread", "onSpinWait", "()V", "Clocks"),
      read(Jdks.EARLIER, "java/lang/VirtualThread", "UNPARKER", CONCURRENT + "ScheduledExecutorService", "Clocks",
          "unparker", EVERYWHERE),
      call(Jdks.LATER, "java/lang/VirtualThread$DelayedTaskSchedulers", "schedule",
          "(Ljava/lang/Runnable;JLjava/util/concurrent/TimeUnit;)Ljava/util/concurrent/Future;", "Clocks"),

      // Chance
      call("java/lang/Math", "random", "()D", "Chance"),
      call("java/util/UUID", "randomUUID", "()Ljava/util/UUID;", "Chance"),
      call(CONCURRENT + "ThreadLocalRandom", "current", "()Ljava/util/concurrent/ThreadLocalRandom;", "Chance"),
      ofSecureRandom("nextLong", "()J"),
      ofSecureRandom("nextInt", "()I"),
      ofSecureRandom("nextInt", "(I)I"),
      ofSecureRandom("nextBytes", "([B)V"),

      // Threads
      ofThread("start", "()V"),
      ofThread("join", "()V"),
      ofThread("join", "(J)V"),
      ofThread("join", "(JI)V"),
      ofThread("join", "(Ljava/time/Duration;)Z"),
      ofThread("isAlive", "()Z"),
      ofThread("interrupt", "()V"),
      ofThread("isInterrupted", "()Z"),
      ofThread("getState", "()Ljava/lang/Thread$State;"),
      threadId("threadId"),
      threadId("getId"),
      builderStart("java/lang/Thread$Builder"),
      builderStart("java/lang/Thread$Builder$OfPlatform"),
      call(CONCURRENT + "locks/LockSupport", "unpark", "(Ljava/lang/Thread;)V", "Threads"),
      call(CONCURRENT + "Executors", "defaultThreadFactory", "()Ljava/util/concurrent/ThreadFactory;", "Threads"),

      // Pools
      read(Jdks.EARLIER, CONCURRENT + "CompletableFuture", "ASYNC_POOL", CONCURRENT + "Executor", "Pools", "executor",
          EVERYWHERE),
      read(Jdks.EARLIER, CONCURRENT + "SubmissionPublisher", "ASYNC_POOL", CONCURRENT + "Executor", "Pools", "executor",
          EVERYWHERE),
      read(Jdks.LATER, CONCURRENT + "CompletableFuture", "ASYNC_POOL", CONCURRENT + "ForkJoinPool", "Pools", "pool",
          EVERYWHERE),
      new Redirect(Jdks.LATER, CONCURRENT + "ForkJoinPool", "asyncCommonPool",
          "()Ljava/util/concurrent/ForkJoinPool;", TAP + "Pools", "pool", "()Ljava/util/concurrent/ForkJoinPool;",
          only("SubmissionPublisher")),
      read(Jdks.ALL, CONCURRENT + "ForkJoinPool", "common", CONCURRENT + "ForkJoinPool", "Pools", "common",
          only("ForkJoinTask")),
      new Redirect(Jdks.ALL, CONCURRENT + "ForkJoinPool", "poolSubmit",
          "(ZLjava/util/concurrent/ForkJoinTask;)Ljava/util/concurrent/ForkJoinTask;", TAP + "Pools", "poolSubmit",
          "(Ljava/util/concurrent/ForkJoinPool;ZLjava/util/concurrent/ForkJoinTask;)"
              + "Ljava/util/concurrent/ForkJoinTask;",
          EVERYWHERE),

      // Delays
      call(Jdks.EARLIER, CONCURRENT + "CompletableFuture$Delayer", "delay",
          "(Ljava/lang/Runnable;JLjava/util/concurrent/TimeUnit;)Ljava/util/concurrent/ScheduledFuture;", "Delays"),
      new Redirect(Jdks.LATER, CONCURRENT + "ForkJoinPool", "scheduleDelayedTask",
          "(Ljava/util/concurrent/DelayScheduler$ScheduledForkJoinTask;)"
              + "Ljava/util/concurrent/DelayScheduler$ScheduledForkJoinTask;",
          TAP + "Delays", "scheduleDelayedTask",
          "(Ljava/util/concurrent/ForkJoinPool;Ljava/util/concurrent/ScheduledFuture;)"
              + "Ljava/util/concurrent/ScheduledFuture;",
          EVERYWHERE),
      new Redirect(Jdks.LATER, CONCURRENT + "Future", "cancel", "(Z)Z", TAP + "Delays", "cancel",
          "(Ljava/util/concurrent/Future;Z)Z", only("CompletableFuture$Canceller")),

      // Sockets
      call("java/net/SocketImpl", "createPlatformSocketImpl", "(Z)Ljava/net/SocketImpl;", "Sockets"),
      call("java/net/DatagramSocket", "createDelegate",
          "(Ljava/net/SocketAddress;Ljava/lang/Class;)Ljava/net/DatagramSocket;", "Sockets"),
      provider("SelectorProvider", "selectors"),
      provider("AsynchronousChannelProvider", "channels"),

      // Mailboxes of users; the library's own keep their bounds
      new Redirect(Jdks.ALL, "io/fibry/mailbox/Mailbox", "bounded",
          "(ILio/fibry/mailbox/Overflow;)Lio/fibry/mailbox/Mailbox;", "io/fibry/simulation/SmallMailboxes", "bounded",
          "(ILio/fibry/mailbox/Overflow;)Lio/fibry/mailbox/Mailbox;", Redirects::isOfUsers));

  /** Classes of the JDK that are changed, by the beginning of their names. */
  private static final List<String> CHANGED = List.of("java/lang/VirtualThread", CONCURRENT, "java/time/",
      "java/util/Random", "java/util/Collections", "java/util/Date", "java/util/Calendar",
      "java/util/GregorianCalendar", "java/util/Timer", "java/net/Socket", "java/net/ServerSocket",
      "java/net/SocksSocket", "java/net/DatagramSocket", "java/net/MulticastSocket", CHANNELS);

  private static final String THREAD = "java/lang/Thread";

  /** The rows, by owner, name and type. */
  private final Map<String, Redirect> rows;

  private Redirects(List<Redirect> rows) {
    this.rows = rows.stream().collect(Collectors.toMap(row -> key(row.owner(), row.name(), row.type()), row -> row));
  }

  /** The rows for this JDK; fails where it lacks what one of them redirects. */
  static Redirects of(List<Redirect> table, int feature) {
    if (feature < 25 && feature != 21)
      throw new UnsupportedOperationException("cannot simulate on Java " + feature + ": run on Java 21 or 25");
    var rows = table.stream().filter(row -> row.jdks().has(feature)).toList();
    for (var row : rows) {
      if (!row.owner().startsWith("io/fibry/") && !row.isThere())
        throw new UnsupportedOperationException("cannot simulate on Java " + feature + ": " + row
            + "; run on Java 21 or 25, or with a fibry-simulation made for this Java");
    }
    return new Redirects(rows);
  }

  /** Whether a class of the JDK is changed. */
  static boolean isChanged(String type) {
    return CHANGED.stream().anyMatch(type::startsWith);
  }

  /**
   * Returns the row for a use within a class, or null if there is none.
   *
   * @param ancestry says which classes are threads: a call of {@code start} may name a subclass
   */
  Redirect find(String within, String owner, String name, String type, Ancestry ancestry) {
    var row = rows.get(key(owner, name, type));
    if (row == null) row = ofSubclass(owner, name, type, ancestry);
    return row != null && row.where().changes(within) ? row : null;
  }

  private Redirect ofSubclass(String owner, String name, String type, Ancestry ancestry) {
    var row = rows.get(key(THREAD, name, type));
    return row != null && !row.call().equals(type) && ancestry.isThread(owner) ? row : null;
  }

  private static String key(String owner, String name, String type) {
    return owner + '.' + name + type;
  }

  private static boolean isOfUsers(String type) {
    return !type.startsWith("io/fibry/") || type.startsWith("io/fibry/simulation/")
        || type.startsWith("io/fibry/examples/");
  }

  private static Where only(String type) {
    return (CONCURRENT + type)::equals;
  }

  private static Redirect call(String owner, String name, String type, String target) {
    return call(Jdks.ALL, owner, name, type, target);
  }

  private static Redirect call(Jdks jdks, String owner, String name, String type, String target) {
    return new Redirect(jdks, owner, name, type, TAP + target, name, type, EVERYWHERE);
  }

  private static Redirect read(Jdks jdks, String owner, String name, String type, String target, String method,
      Where where) {
    var descriptor = "L" + type + ";";
    return new Redirect(jdks, owner, name, descriptor, TAP + target, method, "()" + descriptor, where);
  }

  private static Redirect provider(String name, String method) {
    var owner = CHANNELS + "spi/" + name;
    var type = "()L" + owner + ";";
    return new Redirect(Jdks.ALL, owner, "provider", type, TAP + "Sockets", method, type, EVERYWHERE);
  }

  private static Redirect ofThread(String name, String type) {
    return new Redirect(Jdks.ALL, "java/lang/Thread", name, type, TAP + "Threads", name,
        "(Ljava/lang/Thread;" + type.substring(1), OUTSIDE);
  }

  private static Redirect ofSecureRandom(String name, String type) {
    return new Redirect(Jdks.ALL, "java/security/SecureRandom", name, type, TAP + "Chance", name,
        "(Ljava/security/SecureRandom;" + type.substring(1), EVERYWHERE);
  }

  private static Redirect threadId(String name) {
    return new Redirect(Jdks.ALL, "java/lang/Thread", name, "()J", TAP + "Threads", "threadId",
        "(Ljava/lang/Thread;)J", OUTSIDE);
  }

  private static Redirect builderStart(String owner) {
    return new Redirect(Jdks.ALL, owner, "start", "(Ljava/lang/Runnable;)Ljava/lang/Thread;", TAP + "Threads", "start",
        "(Ljava/lang/Thread$Builder;Ljava/lang/Runnable;)Ljava/lang/Thread;", EVERYWHERE);
  }
}
