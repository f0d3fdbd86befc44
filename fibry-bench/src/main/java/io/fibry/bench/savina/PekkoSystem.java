package io.fibry.bench.savina;

import com.typesafe.config.ConfigFactory;
import java.util.concurrent.CompletableFuture;
import org.apache.pekko.actor.typed.ActorRef;
import org.apache.pekko.actor.typed.ActorSystem;
import org.apache.pekko.actor.typed.Behavior;
import org.apache.pekko.actor.typed.javadsl.ActorContext;
import org.apache.pekko.actor.typed.javadsl.Behaviors;

/**
 * Runs Pekko typed as its documentation recommends. The process has one actor system with the
 * default dispatcher: a fork-join pool of at least 8 threads, which handles 5 messages of an actor
 * in a row. Mailboxes are unbounded, as by default. Dead letters are not logged. Behaviors switch
 * over a sealed protocol, which is cheaper than {@code onMessage} chains.
 */
public final class PekkoSystem {
  private static final String CONFIG =
      "pekko { log-dead-letters = off, log-dead-letters-during-shutdown = off, loglevel = WARNING, "
          + "stdout-loglevel = WARNING, daemonic = on, jvm-shutdown-hooks = off }";
  private static final ActorSystem<Command> SYSTEM = ActorSystem.create(Behaviors.<Command>receive(PekkoSystem::handle),
      "savina", ConfigFactory.parseString(CONFIG).withFallback(ConfigFactory.load()));

  private PekkoSystem() {}

  private sealed interface Command {}

  private record Spawn<M>(Behavior<M> behavior, CompletableFuture<ActorRef<M>> result) implements Command {
    void spawnIn(ActorContext<Command> context) {
      result.complete(context.spawnAnonymous(behavior));
    }
  }

  private record Stop(ActorRef<?> actor, CompletableFuture<Void> whenEnded) implements Command {}

  private record Ended(CompletableFuture<Void> whenEnded) implements Command {}

  private static Behavior<Command> handle(ActorContext<Command> context, Command command) {
    switch (command) {
      case Spawn<?> spawn -> spawn.spawnIn(context);
      case Stop stop -> {
        context.watchWith(stop.actor, new Ended(stop.whenEnded));
        context.stop(stop.actor);
      }
      case Ended ended -> ended.whenEnded.complete(null);
    }
    return Behaviors.same();
  }

  public static <M> ActorRef<M> spawn(Behavior<M> behavior) {
    var result = new CompletableFuture<ActorRef<M>>();
    SYSTEM.tell(new Spawn<>(behavior, result));
    return result.join();
  }

  /** Stops the actor and its children, and waits until they have ended. */
  public static void stop(ActorRef<?> actor) {
    var whenEnded = new CompletableFuture<Void>();
    SYSTEM.tell(new Stop(actor, whenEnded));
    whenEnded.join();
  }
}
