package io.fibry.engine.cell;

import io.fibry.RequestException;
import io.fibry.engine.actor.ActorCell;
import io.fibry.engine.actor.Blueprint;
import io.fibry.engine.actor.GuardedCell;
import io.fibry.engine.actor.PoolCell;
import io.fibry.engine.actor.Worker;
import io.fibry.engine.jvm.Threads;
import io.fibry.engine.message.Deadline;
import io.fibry.engine.message.Envelope;
import io.fibry.engine.message.RequestFuture;
import io.fibry.engine.scope.ScopeClosing;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.lang.ref.WeakReference;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Supplier;

/**
 * A look from outside at what an activation is doing, shared by all who look within a tenth of a
 * second: a stack costs as much as a hundred messages, and when one actor is stuck, all who ask it
 * want to know. It keeps texts and names of methods, nothing of the user's.
 */
public final class Snapshot {
  /**
   * At which message an activation was found, and when. Nobody reads a clock at each message; so it
   * has been at it for at least as long.
   */
  public record Since(WeakReference<Object> node, long nanos) {}

  /**
   * What it is doing, in words that go after "the actor"; and the stack of its handler, or null.
   */
  public record Seen(String doing, Here here) {}

  private static final long FRESH = 100_000_000; // ns
  private static final int COUNTED = 1_000;
  private static final int MOMENT = 50; // ms
  private static final Seen NOTHING = new Seen("is busy", null);
  private static final Set<Class<?>> ENGINE =
      Set.of(ActorCell.class, Activation.class, RequestFuture.class, Behaviour.class,
          Deadline.class, Blueprint.class, Extras.class, GuardedCell.class, Context.class, ScopeClosing.class,
          PoolCell.class, Worker.class,
          io.fibry.engine.queue.GuardedQueue.class, io.fibry.engine.queue.SharedQueue.class);
  private static final List<String> LIBRARY = ENGINE.stream().map(Class::getName).toList();
  private static final VarHandle LOOK;

  static {
    try {
      LOOK = MethodHandles.lookup().findVarHandle(Context.class, "look", Snapshot.class);
    } catch (ReflectiveOperationException impossible) {
      throw new ExceptionInInitializerError(impossible);
    }
  }

  private final Activation worker;
  private final long at;
  // somebody is at the user's code for a text; shared with the looks before, as long as he is
  private final AtomicBoolean talking;
  private final CompletableFuture<Seen> seen = new CompletableFuture<>();
  // any who looks makes them
  private volatile WeakReference<Places> places = new WeakReference<>(null);

  private Snapshot(Activation worker, long at, Snapshot before) {
    this.worker = worker;
    this.at = at;
    this.talking = before == null ? new AtomicBoolean() : before.talking;
  }

  /** One that is fresh. Who makes it looks; who comes meanwhile waits for him, but not for long. */
  public static Snapshot at(Activation worker) {
    long now = clock(worker);
    while (true) {
      var last = worker.look;
      if (last != null && now - last.at < FRESH) return last;
      var fresh = new Snapshot(worker, now, last);
      if (!LOOK.compareAndSet(worker, last, fresh)) continue;
      try {
        fresh.seen.complete(fresh.take());
      } finally {
        fresh.seen.complete(NOTHING);
      }
      return fresh;
    }
  }

  private static long clock(Activation worker) {
    return worker.cell.scope().options().scheduler.nanoTime();
  }

  public Seen seen() {
    return soon(seen, NOTHING, 4 * MOMENT); // longer than who looks waits for a text
  }

  /** Notes what it is at now, for those who may have to tell later for how long. */
  public static Since note(Activation worker) {
    Object node = worker.at();
    if (node == null || worker.message == null) return null;
    var since = worker.since;
    if (since == null || !since.node.refersTo(node))
      worker.since = since = new Since(new WeakReference<>(node), clock(worker));
    return since;
  }

  // ---- looking

  private Seen take() {
    var thread = worker.thread;
    if (thread == null)
      return new Seen("has been given no thread yet by " + RequestException.shown(worker.cell.behaviour.how.strategy()),
          null);
    var since = note(worker);
    Object message = Envelope.given(worker.message);
    if (since == null || message == null)
      return new Seen(worker.cell.isIdle() ? "is idle" : "is between two messages", null);
    var wait = worker.waits;
    var stack = handlers(thread.getStackTrace());
    if (!since.node.refersTo(worker.at())) return new Seen("was going on to its next message", null);
    String where = (at - since.nanos > 0 ? "has been handling %s for at least " + (at - since.nanos) / 1_000_000 + " ms"
        : "is handling %s") + (wait == null ? "" : ", where it waits for %s");
    String text = soonTold(() -> where.formatted(RequestException.shown(message), wait == null ? "" : wait.goal()),
        where.formatted("a " + message.getClass().getName(), "another actor"));
    return new Seen(text, new Here(worker.cell.name(), stack));
  }

  /**
   * What stands above the frames of the engine that called the handler; of nested handlers on one
   * thread, this one's and those above.
   */
  private StackTraceElement[] handlers(StackTraceElement[] stack) {
    int below = 0;
    for (var outer = worker.outer; outer != null; outer = outer.outer) if (outer.message != null) below++;
    int end = stack.length;
    for (int i = stack.length; i-- > 0 && below >= 0;) if (stack[i].getMethodName().equals("attempt")
        && stack[i].getClassName().equals(Activation.class.getName()) && below-- == 0)
      end = i;
    while (end > 0 && isLibrary(stack[end - 1])) end--;
    return Arrays.copyOf(stack, end);
  }

  public static boolean isLibrary(StackTraceElement frame) {
    String name = frame.getClassName();
    int nested = name.indexOf('$');
    return LIBRARY.contains(nested < 0 ? name : name.substring(0, nested));
  }

  /**
   * What a message says of itself is code of the user, which may want a lock that the handler
   * holds: so it runs on a thread of its own, and is not waited for for long.
   */
  private String soonTold(Supplier<String> text, String otherwise) {
    if (!talking.compareAndSet(false, true)) return otherwise;
    var told = new CompletableFuture<String>();
    try {
      Threads.FIBER.activate(() -> {
        try {
          told.complete(text.get());
        } finally {
          talking.set(false);
        }
      });
    } catch (Throwable noThread) {
      talking.set(false);
      return otherwise;
    }
    return soon(told, otherwise, MOMENT);
  }

  private static <T> T soon(CompletableFuture<T> future, T otherwise, int millis) {
    try {
      return future.get(millis, TimeUnit.MILLISECONDS);
    } catch (InterruptedException interrupted) {
      Thread.currentThread().interrupt();
      return otherwise;
    } catch (Exception late) {
      return otherwise;
    }
  }

  // ---- the queue

  /** The numbers of the first that wait; {@code all}: there were no more. */
  private record Places(Map<Object, Integer> numbers, boolean all) {}

  /**
   * Where a request stands among those that wait, in words that go after "its turn had not come".
   * Empty: not known.
   */
  public String place(RequestFuture<?> asked) {
    var found = places.get();
    // it came since they were counted, and they are few
    if (found == null || found.all && !found.numbers.containsKey(asked)) places = new WeakReference<>(found = number());
    var number = found.numbers.get(asked);
    if (number != null) return ": it was number " + number + " in the queue";
    return found.numbers.size() < COUNTED ? "" : ": more than 1,000 were before it";
  }

  private Places number() {
    var first = new ArrayList<Object>();
    boolean all = worker.cell.front().first(worker.at(), COUNTED, first);
    var numbers = new IdentityHashMap<Object, Integer>();
    for (var node : first) numbers.put(node, numbers.size() + 1);
    return new Places(numbers, all);
  }

  /**
   * Where a handler was. One for all that look at the same time; it is nobody's own stack, so it is
   * made without one.
   */
  public static final class Here extends Exception {
    private static final long serialVersionUID = 1;
    private static final int LINES = 8;

    private final String top;

    public Here(String actor, StackTraceElement[] stack) {
      super("actor '" + actor + "' was here", null, false, true);
      setStackTrace(stack);
      this.top = top(stack);
    }

    @Override
    public Throwable fillInStackTrace() {
      return this;
    }

    /** The top of it, from where the user's code called into the JDK or the library. */
    public String top() {
      return top;
    }

    private static String top(StackTraceElement[] stack) {
      int first = 0;
      while (first + 1 < stack.length && isForeign(stack[first]) && isForeign(stack[first + 1])) first++;
      var text = new StringBuilder();
      for (int i = first; i < Math.min(first + LINES, stack.length); i++) text.append("\n\tat ").append(stack[i]);
      return text.toString();
    }

    private static boolean isForeign(StackTraceElement frame) {
      String name = frame.getClassName();
      return name.startsWith("java.") || name.startsWith("jdk.") || isLibrary(frame);
    }
  }
}
