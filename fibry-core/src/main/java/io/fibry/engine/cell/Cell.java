package io.fibry.engine.cell;

import io.fibry.engine.actor.ActorCell;
import io.fibry.engine.jvm.StackProbe;
import io.fibry.engine.message.Envelope;
import io.fibry.engine.scope.Scope;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;

/**
 * The life of an actor: its phases, who works for it, and what it has besides.
 *
 * <h2>The end</h2> {@code OPEN -> ENDING -> LEAVING -> ENDED}. Only OPEN takes messages.
 * {@code askExit} sets ENDING and appends the pill; {@code sendPoisonPill} only appends it. Who
 * drains reads the phase before each message: what it meets while it is not OPEN is undelivered. At
 * the pill it sets LEAVING, disposes of the rest, gives the right to run back, and only then runs
 * the hooks. A sender that saw OPEN just before may still come then: it finds itself with the right
 * to run an actor that is LEAVING, and buries its message itself.
 *
 * <p>{@code OPEN <-> RENEW}: as open as OPEN, but whoever drains restarts the actor before the next
 * message. So a restart asked for from outside costs those who are not asked nothing.
 */
public abstract class Cell extends PlainQueue {
  private static final VarHandle PHASE;
  private static final VarHandle RICH;
  private static final VarHandle RUN;

  static {
    try {
      var lookup = MethodHandles.lookup();
      PHASE = lookup.findVarHandle(PlainQueue.class, "phase", byte.class);
      RICH = lookup.findVarHandle(Cell.class, "rich", Extras.class);
      RUN = lookup.findVarHandle(Cell.class, "run", Activation.class);
    } catch (ReflectiveOperationException impossible) {
      throw new ExceptionInInitializerError(impossible);
    }
  }

  public final Behaviour behaviour;
  public Object state; // who has the right to run
  public boolean hasState; // who has the right to run
  public boolean left; // the pill was met; who has the right to run
  // the hooks are still to be run, and who met the pill will not; who has the right to run
  public boolean orphaned;
  // who drains now; null while idle, unless resident. Written by it, read by who wants to interrupt
  // it
  private Activation run;
  private volatile Extras rich; // null -> one, by whoever needs it first

  public Cell(Behaviour behaviour) {
    this.behaviour = behaviour;
  }

  /** Whether the hooks are this drain's to run. */
  public boolean adopt() {
    boolean mine = orphaned;
    if (mine) orphaned = false;
    return mine;
  }

  private ActorCell cell() {
    return (ActorCell) this;
  }

  public final Scope scope() {
    return behaviour.how.scope();
  }

  public final Extras richOrNull() {
    return rich;
  }

  public final Extras rich() {
    var extras = rich;
    if (extras != null) return extras;
    extras = new Extras(cell(), null, null);
    return RICH.compareAndSet(this, null, extras) ? extras : rich;
  }

  /** Gives it a name and a protocol; before anybody else knows it. */
  public final void introduce(String name, Class<?> type) {
    rich = new Extras(cell(), name, type);
  }

  /** Who drains now. */
  public final Activation run() {
    return (Activation) RUN.getAcquire(this);
  }

  /**
   * Before it gets a thread: a killer must find what waits, also if it never gets one. Once only:
   * handed out again, it may have been at work and gone.
   */
  public final void announce(Activation activation) {
    RUN.setRelease(this, activation);
  }

  public final void run(Activation activation) {
    if (activation == null) RUN.setRelease(this, null);
    // before its thread reads the phase: a killer writes the phase, then reads this
    else RUN.setVolatile(this, activation);
  }

  /** Whether this is the thread that works for the actor now. */
  public boolean isCurrent() {
    var now = Thread.currentThread();
    var worker = run();
    var extras = rich;
    var leaver = extras == null ? null : extras.leaver;
    return worker != null && worker.thread == now || leaver != null && leaver.thread == now;
  }

  // ---- the door

  /** OPEN -> ENDING, and the pill; nothing if the door is shut already. */
  public final void shutDoor() {
    shutDoor(() -> {});
  }

  /** The same, with something done before a handler that waits for a message can notice. */
  public final void shutDoor(Runnable first) {
    var pill = new Envelope(Envelope.Control.PILL);
    StackProbe.probe(); // a shut door without a pill would never end
    boolean shut = false;
    for (byte now = phase; now <= OPEN && !shut; now = phase) shut = PHASE.compareAndSet(this, now, ENDING);
    try {
      first.run();
    } finally {
      if (shut) pushOrReopen(pill);
    }
    if (rich != null) Dispatch.wake(cell()); // a rest ends with the actor
  }

  private void pushOrReopen(Envelope pill) {
    try {
      push(pill);
    } catch (Throwable edge) { // of the stack: without a pill it would never end
      if (phase == ENDING) phase = OPEN;
      throw edge;
    }
  }

  /**
   * At the pill: -> LEAVING. Under the monitor by which a killer looks whether there is a handler
   * to interrupt.
   */
  public void leaving() {
    var extras = rich();
    synchronized (extras) {
      if (phase < LEAVING) phase = LEAVING;
    }
  }

  /** Last of all: -> ENDED, and the name is free. */
  public final void ended() {
    synchronized (rich()) {
      phase = ENDED;
    }
    freeName();
  }

  public final void freeName() {
    scope().free(cell(), label());
  }

  /** Null: none. */
  public final String label() {
    var extras = rich;
    return extras == null ? null : extras.label;
  }

  // ---- restarts from outside

  /** OPEN -> RENEW; it is told, should it sleep. */
  public void askRestart(long pause) {
    rich().pause = pause;
    if (PHASE.compareAndSet(this, OPEN, RENEW)) push(new Envelope(null));
  }

  /** RENEW -> OPEN, by who has the right to run. */
  public final boolean heedRestart() {
    return PHASE.compareAndSet(this, RENEW, OPEN);
  }

  // ---- for who looks on

  /** Whether it has nothing to do, no hook of it runs, and no timer is due. */
  public final boolean isQuiet() {
    var extras = rich;
    return isIdle() && phase != LEAVING
        && (extras == null || extras.leaver == null && !extras.isDue(scope().options().scheduler.nanoTime()));
  }

  /** How many wait, with what is put aside; counted up to {@code most}. */
  public final int waiting(int most) {
    return Math.min(waiting(at(), most) + aside(), most);
  }

  /** Whether surely no more than so many wait. */
  public final boolean waitAtMost(int most) {
    return waitAtMost(at(), most - aside());
  }

  /** From where on messages wait. */
  private Object at() {
    var worker = run();
    var extras = rich;
    return worker != null && worker.at() != null ? worker.at() : extras == null ? null : extras.resting();
  }

  private int aside() {
    var extras = rich;
    return extras == null ? 0 : (int) extras.aside.stream().filter(PlainQueue::holds).count();
  }
}
