package io.fibry.engine.jvm;

import java.util.List;
import java.util.concurrent.RejectedExecutionException;

/**
 * Initializes the classes of the engine when it is first used. If a stack overflow ends the static
 * initializer of a class, the class stays unusable until the process ends. So the first use checks
 * that the stack has enough space, and then initializes all classes of the engine that have a
 * static initializer. It also loads the classes that the engine needs when stack or memory is
 * exhausted: a sender, for example, must load no class between the two writes that append a
 * message. This class has no static initializer itself.
 */
public final class EngineClasses {
  /**
   * The depth of the recursion that checks the stack. Each level takes at least 80 bytes, and 150
   * bytes in the interpreter.
   */
  private static final int RESERVED_LEVELS = 500;

  // Two threads may initialize the same classes; the second finds all classes initialized
  private static boolean areInitialized;
  private static boolean areMailboxesInitialized;

  private EngineClasses() {}

  /**
   * Initializes the classes, unless they are initialized.
   *
   * @throws StackOverflowError if the stack has too little space; a later call tries again
   * @throws IllegalStateException if the property fibry.carriers cannot be obeyed
   */
  public static void initialize() {
    if (areInitialized) return;
    initialize(names());
    loadErrorClasses();
    OptionalCarriers.check();
    areInitialized = true;
  }

  /**
   * Initializes the classes of all mailboxes except the plain mailbox, unless they are initialized.
   * Called before each use of such a mailbox.
   *
   * @throws StackOverflowError if the stack has too little space; a later call tries again
   */
  public static void initializeMailboxes() {
    if (areMailboxesInitialized) return;
    initialize(mailboxNames());
    areMailboxesInitialized = true;
  }

  private static void initialize(List<String> names) {
    reserveStack(RESERVED_LEVELS, 0, 0, 0, 0, 0, 0);
    var loader = EngineClasses.class.getClassLoader();
    for (String name : names) {
      try {
        Class.forName("io.fibry." + name, true, loader);
      } catch (ClassNotFoundException incomplete) {
        throw new NoClassDefFoundError(incomplete.getMessage());
      }
    }
  }

  /**
   * Loads the classes of errors that the engine tells apart. At the first use of such a class, the
   * JVM calls the class loader of the engine, which needs stack and memory.
   */
  private static Class<?>[] loadErrorClasses() {
    return new Class<?>[] {VirtualMachineError.class, StackOverflowError.class, OutOfMemoryError.class,
      RejectedExecutionException.class};
  }

  private static long reserveStack(int levels, long a, long b, long c, long d, long e, long f) {
    return levels == 0 ? a + b + c + d + e + f : 1 + reserveStack(levels - 1, b, c, d, e, f, a);
  }

  static List<String> names() {
    return List.of(
        "engine.actor.ActorCell", "engine.actor.ActorCell$1", "engine.actor.ActorCell$Admission",
        "engine.actor.DefaultActorBuilder", "engine.actor.ReplaceableMessage", "engine.actor.TimedMessage",
        "engine.actor.TimedMessage$SendTask", "engine.cell.Accounts$NotificationTask",
        "engine.cell.Accounts$StripedCount",
        "engine.cell.Activation", "engine.cell.Activation$ActivationKind", "engine.cell.Activity",
        "engine.cell.ActorBehavior",
        "engine.cell.ActorBehavior$RestOfHandling",
        "engine.cell.ActorInspector", "engine.cell.Cell", "engine.cell.Cell$CutOffRun", "engine.cell.Cell$CutOffTimer",
        "engine.cell.Cell$FailRequestsRound", "engine.cell.Cell$Interruption", "engine.cell.ColdState",
        "engine.cell.DeadLetters", "engine.cell.DeadLetters$ListenerCall", "engine.cell.ExitSignal",
        "engine.cell.FailureHandler", "engine.cell.NameAndCounts", "engine.cell.OwningScope$Decision",
        "engine.cell.OwningScope$Verdict",
        "engine.cell.PlainQueue", "engine.cell.PlainQueue$RescueTask", "engine.cell.PlainQueue$StartRetry",
        "engine.cell.PlainQueue$SuspensionEnd", "engine.cell.Watches", "engine.cell.Watches$ExitMessage",
        "engine.jvm.AskChainLocals", "engine.jvm.BoundedCall", "engine.jvm.CallerThreadRunner",
        "engine.jvm.CoarseClock", "engine.jvm.EngineThreads", "engine.jvm.FiberStarter",
        "engine.jvm.GuaranteedStart", "engine.jvm.HandOver", "engine.jvm.MessageTexts", "engine.jvm.OptionalCarriers",
        "engine.jvm.StackProbe",
        "engine.jvm.StackTraces", "engine.jvm.StartRetrier$RepeatedWork", "engine.message.AnswerType",
        "engine.message.Baggage", "engine.message.BaggageText", "engine.message.Deadline",
        "engine.message.EngineMessage", "engine.message.Envelope", "engine.message.JfrEvents",
        "engine.message.ExpiryTimer", "engine.message.LongWaitSweep", "engine.message.RequestFailures",
        "engine.message.RequestFuture",
        "engine.message.RequestFuture$Completion", "engine.message.Wait$WaitingHandler",
        "engine.queue.AnswerSpin", "engine.scope.MemberTable$MemberStripe", "engine.scope.Scope$ProcessRoot",
        "engine.scope.Supervisor$1",
        "engine.timer.TimerNode", "engine.timer.TimerQueue",
        "time.SystemScheduler", "time.SystemScheduler$QueuedTask");
  }

  static List<String> mailboxNames() {
    return List.of("engine.actor.GuardedCell", "engine.actor.GuardedCell$1", "engine.actor.WorkerRetirement",
        "engine.queue.ArrivalBuffer", "engine.queue.GuardedQueue", "engine.queue.GuardedQueue$EnterResult",
        "engine.queue.QueueEntry", "engine.queue.TakenMessages");
  }
}
