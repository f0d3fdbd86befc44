package io.fibry.simulation.agent;

import io.fibry.simulation.agent.Redirect.ClassFilter;
import io.fibry.simulation.agent.Redirect.JdkVersions;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;

/** The table of all calls that are redirected, with the methods that replace them. */
final class RedirectTable {
  private static final String TAP = "io/fibry/simulation/tap/";
  private static final String CONCURRENT = "java/util/concurrent/";
  private static final String CHANNELS = "java/nio/channels/";
  private static final ClassFilter EVERYWHERE = type -> true;
  /**
   * All classes but VirtualThread, whose code must see the real thread id. It computes the hash
   * code of a thread from the id, and the hash code must never change.
   */
  private static final ClassFilter NOT_VIRTUAL_THREAD = type -> !type.equals("java/lang/VirtualThread");

  /** The rows for all supported JDKs. */
  static final List<Redirect> ALL_ROWS = List.of(
      // Clocks
      call("java/lang/System", "nanoTime", "()J", "ClockTap"),
      call("java/lang/System", "currentTimeMillis", "()J", "ClockTap"),
      call("jdk/internal/misc/VM", "getNanoTimeAdjustment", "(J)J", "ClockTap"),
      call("java/lang/Thread", "onSpinWait", "()V", "ClockTap"),
      read(JdkVersions.JAVA_21, "java/lang/VirtualThread", "UNPARKER", CONCURRENT + "ScheduledExecutorService",
          "ClockTap",
          "unparker", EVERYWHERE),
      call(JdkVersions.JAVA_25_OR_LATER, "java/lang/VirtualThread$DelayedTaskSchedulers", "schedule",
          "(Ljava/lang/Runnable;JLjava/util/concurrent/TimeUnit;)Ljava/util/concurrent/Future;", "ClockTap"),

      // Random numbers
      call("java/lang/Math", "random", "()D", "RandomTap"),
      call("java/util/UUID", "randomUUID", "()Ljava/util/UUID;", "RandomTap"),
      call(CONCURRENT + "ThreadLocalRandom", "current", "()Ljava/util/concurrent/ThreadLocalRandom;", "RandomTap"),
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
      call(CONCURRENT + "locks/LockSupport", "unpark", "(Ljava/lang/Thread;)V", "ThreadTap"),
      call(CONCURRENT + "Executors", "defaultThreadFactory", "()Ljava/util/concurrent/ThreadFactory;", "ThreadTap"),

      // Pools
      read(JdkVersions.JAVA_21, CONCURRENT + "CompletableFuture", "ASYNC_POOL", CONCURRENT + "Executor", "PoolTap",
          "executor",
          EVERYWHERE),
      read(JdkVersions.JAVA_21, CONCURRENT + "SubmissionPublisher", "ASYNC_POOL", CONCURRENT + "Executor", "PoolTap",
          "executor",
          EVERYWHERE),
      read(JdkVersions.JAVA_25_OR_LATER, CONCURRENT + "CompletableFuture", "ASYNC_POOL", CONCURRENT + "ForkJoinPool",
          "PoolTap",
          "pool",
          EVERYWHERE),
      new Redirect(JdkVersions.JAVA_25_OR_LATER, CONCURRENT + "ForkJoinPool", "asyncCommonPool",
          "()Ljava/util/concurrent/ForkJoinPool;", TAP + "PoolTap", "pool", "()Ljava/util/concurrent/ForkJoinPool;",
          only("SubmissionPublisher")),
      read(JdkVersions.ALL, CONCURRENT + "ForkJoinPool", "common", CONCURRENT + "ForkJoinPool", "PoolTap", "common",
          only("ForkJoinTask")),
      new Redirect(JdkVersions.ALL, CONCURRENT + "ForkJoinPool", "poolSubmit",
          "(ZLjava/util/concurrent/ForkJoinTask;)Ljava/util/concurrent/ForkJoinTask;", TAP + "PoolTap", "poolSubmit",
          "(Ljava/util/concurrent/ForkJoinPool;ZLjava/util/concurrent/ForkJoinTask;)"
              + "Ljava/util/concurrent/ForkJoinTask;",
          EVERYWHERE),

      // Delays
      call(JdkVersions.JAVA_21, CONCURRENT + "CompletableFuture$Delayer", "delay",
          "(Ljava/lang/Runnable;JLjava/util/concurrent/TimeUnit;)Ljava/util/concurrent/ScheduledFuture;", "DelayTap"),
      new Redirect(JdkVersions.JAVA_25_OR_LATER, CONCURRENT + "ForkJoinPool", "scheduleDelayedTask",
          "(Ljava/util/concurrent/DelayScheduler$ScheduledForkJoinTask;)"
              + "Ljava/util/concurrent/DelayScheduler$ScheduledForkJoinTask;",
          TAP + "DelayTap", "scheduleDelayedTask",
          "(Ljava/util/concurrent/ForkJoinPool;Ljava/util/concurrent/ScheduledFuture;)"
              + "Ljava/util/concurrent/ScheduledFuture;",
          EVERYWHERE),
      new Redirect(JdkVersions.JAVA_25_OR_LATER, CONCURRENT + "Future", "cancel", "(Z)Z", TAP + "DelayTap", "cancel",
          "(Ljava/util/concurrent/Future;Z)Z", only("CompletableFuture$Canceller")),

      // Sockets
      call("java/net/SocketImpl", "createPlatformSocketImpl", "(Z)Ljava/net/SocketImpl;", "SocketTap"),
      call("java/net/DatagramSocket", "createDelegate",
          "(Ljava/net/SocketAddress;Ljava/lang/Class;)Ljava/net/DatagramSocket;", "SocketTap"),
      provider("SelectorProvider", "selectors"),
      provider("AsynchronousChannelProvider", "channels"),

      // Bounded mailboxes that users make; mailboxes that the library makes keep their capacity
      new Redirect(JdkVersions.ALL, "io/fibry/mailbox/Mailbox", "bounded",
          "(ILio/fibry/mailbox/Overflow;)Lio/fibry/mailbox/Mailbox;", "io/fibry/simulation/SmallMailboxes", "bounded",
          "(ILio/fibry/mailbox/Overflow;)Lio/fibry/mailbox/Mailbox;", RedirectTable::isUserClass));

  /** Prefixes of the names of those JDK classes whose calls are redirected. */
  private static final List<String> PATCHED_JDK_PREFIXES = List.of("java/lang/VirtualThread", CONCURRENT, "java/time/",
      "java/util/Random", "java/util/Collections", "java/util/Date", "java/util/Calendar",
      "java/util/GregorianCalendar", "java/util/Timer", "java/net/Socket", "java/net/ServerSocket",
      "java/net/SocksSocket", "java/net/DatagramSocket", "java/net/MulticastSocket", CHANNELS);

  private static final String THREAD = "java/lang/Thread";

  /** The rows for this JDK, by the {@link #key} of the redirected method or field. */
  private final Map<String, Redirect> rows;

  private RedirectTable(List<Redirect> rows) {
    this.rows =
        rows.stream().collect(Collectors.toMap(row -> key(row.owner(), row.name(), row.descriptor()), row -> row));
  }

  /**
   * Returns the rows for a JDK; throws if this JDK lacks a method or field that is redirected.
   */
  static RedirectTable of(List<Redirect> table, int feature) {
    if (feature < 25 && feature != 21)
      throw new UnsupportedOperationException("cannot simulate on Java " + feature + ": run on Java 21 or 25");
    var rows = table.stream().filter(row -> row.jdkVersions().has(feature)).toList();
    for (var row : rows) {
      if (!row.owner().startsWith("io/fibry/") && !row.existsInJdk())
        throw new UnsupportedOperationException("cannot simulate on Java " + feature + ": " + row
            + "; run on Java 21 or 25, or with a fibry-simulation made for this Java");
    }
    return new RedirectTable(rows);
  }

  /** Returns whether calls in a class of the JDK are redirected. */
  static boolean isChanged(String type) {
    return PATCHED_JDK_PREFIXES.stream().anyMatch(type::startsWith);
  }

  /**
   * Returns the row that redirects a reference, or null if it is not redirected.
   *
   * @param patchedClass the class whose code has the reference
   * @param threadTypes finds subclasses of Thread, because a call of {@code start} may name a
   * subclass as its owner
   */
  Redirect find(String patchedClass, String owner, String name, String descriptor, ThreadTypes threadTypes) {
    var row = rows.get(key(owner, name, descriptor));
    if (row == null) row = findForThreadSubclass(owner, name, descriptor, threadTypes);
    return row != null && row.classFilter().accepts(patchedClass) ? row : null;
  }

  private Redirect findForThreadSubclass(String owner, String name, String descriptor, ThreadTypes threadTypes) {
    var row = rows.get(key(THREAD, name, descriptor));
    // Only instance methods of Thread are redirected in subclasses. The row of a static method,
    // such as onSpinWait, has a target with the same descriptor.
    return row != null && !row.targetDescriptor().equals(descriptor) && threadTypes.isThread(owner) ? row : null;
  }

  private static String key(String owner, String name, String descriptor) {
    return owner + '.' + name + descriptor;
  }

  private static boolean isUserClass(String type) {
    return !type.startsWith("io/fibry/") || type.startsWith("io/fibry/simulation/")
        || type.startsWith("io/fibry/examples/");
  }

  private static ClassFilter only(String type) {
    return (CONCURRENT + type)::equals;
  }

  private static Redirect call(String owner, String name, String descriptor, String target) {
    return call(JdkVersions.ALL, owner, name, descriptor, target);
  }

  private static Redirect call(JdkVersions jdkVersions, String owner, String name, String descriptor, String target) {
    return new Redirect(jdkVersions, owner, name, descriptor, TAP + target, name, descriptor, EVERYWHERE);
  }

  private static Redirect read(JdkVersions jdkVersions, String owner, String name, String type, String target,
      String method, ClassFilter classFilter) {
    var descriptor = "L" + type + ";";
    return new Redirect(jdkVersions, owner, name, descriptor, TAP + target, method, "()" + descriptor, classFilter);
  }

  private static Redirect provider(String name, String method) {
    var owner = CHANNELS + "spi/" + name;
    var descriptor = "()L" + owner + ";";
    return new Redirect(JdkVersions.ALL, owner, "provider", descriptor, TAP + "SocketTap", method, descriptor,
        EVERYWHERE);
  }

  private static Redirect ofThread(String name, String descriptor) {
    return new Redirect(JdkVersions.ALL, "java/lang/Thread", name, descriptor, TAP + "ThreadTap", name,
        "(Ljava/lang/Thread;" + descriptor.substring(1), NOT_VIRTUAL_THREAD);
  }

  private static Redirect ofSecureRandom(String name, String descriptor) {
    return new Redirect(JdkVersions.ALL, "java/security/SecureRandom", name, descriptor, TAP + "RandomTap", name,
        "(Ljava/security/SecureRandom;" + descriptor.substring(1), EVERYWHERE);
  }

  private static Redirect threadId(String name) {
    return new Redirect(JdkVersions.ALL, "java/lang/Thread", name, "()J", TAP + "ThreadTap", "threadId",
        "(Ljava/lang/Thread;)J", NOT_VIRTUAL_THREAD);
  }

  private static Redirect builderStart(String owner) {
    return new Redirect(JdkVersions.ALL, owner, "start", "(Ljava/lang/Runnable;)Ljava/lang/Thread;", TAP + "ThreadTap",
        "start",
        "(Ljava/lang/Thread$Builder;Ljava/lang/Runnable;)Ljava/lang/Thread;", EVERYWHERE);
  }
}
