package io.fibry.bench.peer;

import com.typesafe.config.Config;
import com.typesafe.config.ConfigFactory;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Consumer;
import java.util.function.Function;
import org.apache.pekko.actor.typed.ActorRef;
import org.apache.pekko.actor.typed.ActorSystem;
import org.apache.pekko.actor.typed.Behavior;
import org.apache.pekko.actor.typed.MailboxSelector;
import org.apache.pekko.actor.typed.Props;
import org.apache.pekko.actor.typed.javadsl.ActorContext;
import org.apache.pekko.actor.typed.javadsl.AskPattern;
import org.apache.pekko.actor.typed.javadsl.Behaviors;

/**
 * Pekko typed. {@link #plain} has the default configuration, with which Pekko's documentation
 * recommends starting. Its fork-join dispatcher has at least eight threads, which handle up to five
 * messages of an actor in a row. {@link #tuned} has a thread per processor, and up to 256 messages
 * in a row, as Fibry has. The guardian spawns all actors. The bounded mailboxes of Pekko drop
 * messages, so this adapter does not offer them.
 */
final class Pekko implements Peer.Requests, Peer.PriorityMailboxes, Peer.Timers {
  private static final Config BASE_CONFIG = ConfigFactory.parseString(
      "pekko { loglevel = WARNING, log-dead-letters = off, coordinated-shutdown.exit-jvm = off }\n"
          + "smallest-first.mailbox-type = \""
          + SmallestFirstMailbox.class.getName() + "\"");
  private static final Duration ASK_LIMIT = Duration.ofSeconds(30);

  private final ActorSystem<Consumer<ActorContext<?>>> system;

  private Pekko(Config config) {
    Behavior<Consumer<ActorContext<?>>> guardian = Behaviors.receive((context, task) -> {
      task.accept(context);
      return Behaviors.same();
    });
    system = ActorSystem.create(guardian, "bench", config.withFallback(BASE_CONFIG).withFallback(ConfigFactory.load()));
  }

  static Pekko plain() {
    return new Pekko(ConfigFactory.empty());
  }

  static Pekko tuned() {
    return new Pekko(ConfigFactory.parseString(
        "pekko.actor.default-dispatcher { throughput = 256, fork-join-executor { parallelism-min = 1, "
            + "parallelism-factor = 1.0 } }"));
  }

  private record PekkoReceiver<M>(ActorRef<M> actor, ActorSystem<Consumer<ActorContext<?>>> system)
      implements Receiver<M> {
    @Override
    public void send(M message) {
      actor.tell(message);
    }

    @Override
    public Object bare() {
      return actor;
    }

    @Override
    public void end() {
      system.tell(context -> context.stop(actor));
    }
  }

  private record Request<M, R>(M message, ActorRef<R> replyTo) {}

  private static <M> Behavior<M> behaviorOf(Consumer<M> handler) {
    return Behaviors.receive((context, message) -> {
      handler.accept(message);
      return Behaviors.same();
    });
  }

  private <M> List<Receiver<M>> spawn(int count, Behavior<M> behavior, Props props) {
    var spawned = new CompletableFuture<List<Receiver<M>>>();
    system.tell(context -> {
      var actors = new ArrayList<Receiver<M>>(count);
      for (int i = 0; i < count; i++) actors.add(new PekkoReceiver<>(context.spawnAnonymous(behavior, props), system));
      spawned.complete(actors);
    });
    return spawned.join();
  }

  @Override
  public <M> Receiver<M> actor(Consumer<M> handler) {
    return actors(1, handler).getFirst();
  }

  @Override
  public <M> List<Receiver<M>> actors(int count, Consumer<M> handler) {
    return spawn(count, behaviorOf(handler), Props.empty());
  }

  @Override
  public <M extends Comparable<M>> Receiver<M> prioritized(Consumer<M> handler) {
    return spawn(1, behaviorOf(handler), MailboxSelector.fromConfig("smallest-first")).getFirst();
  }

  @Override
  public <M, R> Answerer<M, R> answering(Function<M, R> handler) {
    var receiver = (PekkoReceiver<Request<M, R>>) this
        .<Request<M, R>>actor(request -> request.replyTo.tell(handler.apply(request.message)));
    return message -> AskPattern
        .ask(receiver.actor, (ActorRef<R> replyTo) -> new Request<>(message, replyTo), ASK_LIMIT, system.scheduler())
        .toCompletableFuture().join();
  }

  @Override
  public <M> Runnable later(Receiver<M> receiver, M message, Duration delay) {
    return system.scheduler().scheduleOnce(delay, () -> receiver.send(message), system.executionContext())::cancel;
  }

  @Override
  public void awaitEnd() {
    while (true) {
      var hasChildren = new CompletableFuture<Boolean>();
      system.tell(context -> hasChildren.complete(!context.getChildren().isEmpty()));
      if (!hasChildren.join()) return;
      LockSupport.parkNanos(100_000);
    }
  }

  @Override
  public void close() {
    system.terminate();
    system.getWhenTerminated().toCompletableFuture().join();
  }
}
