package io.fibry.engine.cell;

import io.fibry.engine.message.Baggage;
import io.fibry.engine.message.Deadline;
import io.fibry.engine.message.Envelope;
import io.fibry.engine.message.RequestFuture;
import io.fibry.engine.message.Wait;
import io.fibry.engine.queue.Blockers;
import io.fibry.ExitReason;
import io.fibry.engine.jvm.StackProbe;
import java.lang.invoke.ConstantBootstraps;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.List;
import java.util.function.Predicate;

/**
 * An actor from inside: its phases, its door, the drain that works for it, and what it needs of the
 * rooms above.
 *
 * <h2>The end</h2> {@code OPEN -> ENDING -> LEAVING -> ENDED}. Only OPEN takes messages.
 * {@code askExit} sets ENDING and appends the pill; {@code sendPoisonPill} only appends it. The drain
 * reads the phase before each message; in any other phase than OPEN the message is undelivered. At
 * the pill it sets LEAVING, disposes of the rest of the queue, releases the right to run, and only
 * then runs the hooks. A sender that saw OPEN just before may still come: it finds itself with the
 * right to run an actor that is LEAVING, and disposes of its message itself.
 *
 * <p>{@code OPEN <-> RENEW}: the actor is open, and the drain restarts it before the next message. So
 * restarts asked for by others cost nothing where there are none.
 */
public abstract class Cell extends PlainQueue implements RequestFuture.Recipient, Watches.Watcher {
  private static final VarHandle PHASE = ConstantBootstraps.fieldVarHandle(MethodHandles.lookup(), "phase",
      VarHandle.class, PlainQueue.class, byte.class);
  private static final VarHandle EXTRAS = ConstantBootstraps.fieldVarHandle(MethodHandles.lookup(), "extras",
      VarHandle.class, Cell.class, Extras.class);
  private static final VarHandle WORKER = ConstantBootstraps.fieldVarHandle(MethodHandles.lookup(), "worker",
      VarHandle.class, Cell.class, Context.class);

  protected final Behaviour behaviour;
  protected Object state; // drain only
  protected boolean hasState; // drain only
  protected boolean pillMet; // drain only
  protected boolean hooksPending; // the drain that met the pill failed before the hooks; drain only
  private Context worker; // the drain; null while idle, unless resident. Written by it, read by killers
  private volatile Extras extras; // null -> one, by the first thread that needs them

  protected Cell(Behaviour behaviour) {
    this.behaviour = behaviour;
  }

  public final Settings settings() {
    return behaviour.settings;
  }

  public final Owner owner() {
    return behaviour.settings.owner();
  }

  // ---- what it needs of the rooms above

  /** The right to run lies stranded: sees to it that a thread takes it up. Throws nothing once entered. */
  protected abstract void recover(Throwable failure);

  /** Lays the right to run down for {@code pause} ns. Where it throws, the caller still has the right. */
  protected abstract void suspend(Object node, long pause);

  /** Takes up the right to run of a suspended actor. */
  public abstract void wake();

  /** Takes in an envelope; else the message is a dead letter. */
  public abstract boolean send(Envelope envelope, Deadline deadline);

  public abstract void kill(ExitReason reason);

  /** What its mailbox can hold. */
  public abstract int capacity();

  // ---- what guarded cells, pools and workers do otherwise

  /** The actor that users know: of a worker, its pool. */
  public Cell front() {
    return this;
  }

  /** Of a pool its workers, and the pool after them. */
  public List<Cell> crew() {
    return List.of(this);
  }

  @Override
  public boolean isPool() {
    return false;
  }

  @Override
  public boolean hasOtherWorkers() {
    return false;
  }

  @Override
  public Blockers<Object> blockers(Wait wait) {
    return null;
  }

  /** Whether it may end at this pill. */
  protected boolean mayEnd() {
    return true;
  }

  /** Whether only its hooks are left, once it is LEAVING. */
  protected boolean isAtHooks() {
    return true;
  }

  /** The drain that handles this request, or will. Null: none now. */
  protected Context workerOn(RequestFuture<?> request) {
    return worker();
  }

  /** The actor is about to be suspended after this node. Answers the node to go on with. */
  protected Object beforeSuspension(Object node, boolean handled) {
    return node;
  }

  /** The end has come, and its thread is done. */
  protected void gone() {
    owner().forget(this, label());
  }

  /** Whether sending runs no user code: no strategy, no order, no dead-letter listener. */
  public boolean onlyQueues() {
    return settings().ownsThreads() && phase <= OPEN;
  }

  protected boolean isSelective() {
    return false;
  }

  /** Of a selective mailbox, the next node whose message fits. Null: none came in time. */
  protected Object receive(Predicate<Object> fits, Deadline deadline) {
    throw new UnsupportedOperationException("the mailbox of actor '" + name() + "' is not selective");
  }

  /** Puts nodes back before all that waits. */
  protected void putBack(List<Object> nodes) {}

  // ---- extras

  /** Null: it has none yet. */
  final Extras extrasOrNull() {
    return extras;
  }

  public final Extras extras() {
    var present = extras;
    if (present != null) return present;
    var fresh = new Extras(null, null);
    return EXTRAS.compareAndSet(this, null, fresh) ? fresh : extras;
  }

  /** Gives it a name and a protocol, before any other thread knows it. */
  public final void introduce(String label, Class<?> type) {
    extras = new Extras(label, type);
  }

  /** Null: no name. */
  public final String label() {
    return extras == null ? null : extras.label;
  }

  @Override
  public String name() {
    var label = label();
    return label != null ? label : "anonymous@" + Integer.toHexString(System.identityHashCode(this));
  }

  @Override
  public final Watches watches() {
    return extras().watches(this);
  }

  /** What a message from this thread takes along. Null: nothing. */
  public final Baggage baggage() {
    return Baggage.of(settings().carriers(), this);
  }

  // ---- its thread

  /** The drain. Null: it is idle. */
  public final Context worker() {
    return (Context) WORKER.getAcquire(this);
  }

  @Override
  public Wait.Waiter blocker() {
    var hooks = hooks();
    return hooks != null ? hooks : worker();
  }

  /** The thread that runs the hooks. Null: none. */
  protected final Wait.Waiter hooks() {
    return extras == null ? null : extras.hooks;
  }

  /**
   * Called before the drain gets its thread: a killer must find what waits, even if the drain never
   * gets one. Only once: when it is handed out again, it may have worked and gone.
   */
  final void announce(Context drain) {
    WORKER.setRelease(this, drain);
  }

  final void setWorker(Context drain) {
    if (drain == null) WORKER.setRelease(this, null);
    // before the drain reads the phase: a killer writes the phase, then reads this
    else WORKER.setVolatile(this, drain);
  }

  @Override
  public boolean isCurrent() {
    var now = Thread.currentThread();
    var drain = worker();
    var hooks = hooks();
    return drain != null && drain.thread == now || hooks != null && hooks.thread == now;
  }

  /** Whether the hooks are for this drain to run. */
  protected boolean takeHooks() {
    boolean pending = hooksPending;
    if (pending) hooksPending = false;
    return pending;
  }

  @Override
  public final boolean isStranded() {
    return stranded != null;
  }

  // ---- the door

  @Override
  public final boolean isEnding() {
    return phase > OPEN;
  }

  @Override
  public final boolean isCondemned() {
    return extras().condemned;
  }

  /** OPEN -> ENDING, and the pill; nothing if the door is shut already. */
  public final void shutDoor(ExitReason why) {
    extras().because(why);
    shutDoor(() -> {});
  }

  /** The same; runs {@code first} before a handler that waits for a message can notice. */
  final void shutDoor(Runnable first) {
    var pill = new Envelope(Envelope.Control.PILL);
    StackProbe.probe(); // an actor with a shut door and no pill would never end
    boolean shut = false;
    for (byte now = phase; now <= OPEN && !shut; now = phase) shut = PHASE.compareAndSet(this, now, ENDING);
    try {
      first.run();
    } finally {
      if (shut) pushOrReopen(pill);
    }
    if (extras != null) wake(); // the end also ends a suspension
  }

  private void pushOrReopen(Envelope pill) {
    try {
      push(pill);
    } catch (Throwable edge) { // of the stack: without a pill it would never end
      if (phase == ENDING) phase = OPEN;
      throw edge;
    }
  }

  /** At the pill: -> LEAVING, under the monitor by which a killer looks for a handler to interrupt. */
  protected void leave() {
    var present = extras();
    synchronized (present) {
      if (phase < LEAVING) phase = LEAVING;
    }
  }

  /** Last of all: -> ENDED, and the name is free. */
  final void ended() {
    synchronized (extras()) {
      phase = ENDED;
    }
    freeName();
  }

  public final void freeName() {
    owner().free(this, label());
  }

  /** Whether it was cut off, and its handler may still run. */
  public final boolean isCutOff() {
    return phase == ENDED && !extras().ended;
  }

  // ---- restarts that other actors' failures ask for

  /** OPEN -> RENEW, and wakes it. */
  public void askRestart(long pause) {
    extras().restartPause = pause;
    if (PHASE.compareAndSet(this, OPEN, RENEW)) push(new Envelope(null));
  }

  /** RENEW -> OPEN, by the drain. */
  final boolean heedRestart() {
    return PHASE.compareAndSet(this, RENEW, OPEN);
  }

  // ---- observers

  /** How its messages get a thread, as text. */
  public String kind() {
    return settings().strategy().toString();
  }

  /** What it does now, as text. */
  public abstract String doing();

  public long handled() {
    return extras().handled;
  }

  public long failed() {
    return extras().failed;
  }

  /** Whether it has nothing to do, none of its hooks runs, and no timer is due. */
  public final boolean isQuiet() {
    return isIdle() && phase != LEAVING && (extras == null
        || extras.hooks == null && !extras.hasDueTimer(owner().options().scheduler().nanoTime()));
  }

  /** How many messages wait, with the stash, counted up to {@code most}. */
  public final int waiting(int most) {
    return Math.min(waiting(at(), most) + stashed(), most);
  }

  /** Whether certainly no more than {@code most} wait. */
  public final boolean waitAtMost(int most) {
    return waitAtMost(at(), most - stashed());
  }

  private Object at() {
    var drain = worker();
    return drain != null && drain.at() != null ? drain.at() : extras == null ? null : extras.suspendedAt();
  }

  private int stashed() {
    return extras == null ? 0 : (int) extras.stash.stream().filter(PlainQueue::holdsMessage).count();
  }
}
