package io.fibry.bench.scenario;

import io.fibry.ActorBuilder;
import io.fibry.ActorContext;
import io.fibry.ActorScope;
import io.fibry.ActorSystem;
import io.fibry.Exitable;
import io.fibry.FailurePolicy;
import io.fibry.bench.ChildJvm;
import io.fibry.bench.report.ResultRow;
import io.fibry.bench.savina.PekkoSystem;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.CompletableFuture;
import org.apache.pekko.actor.typed.ActorRef;
import org.apache.pekko.actor.typed.Behavior;
import org.apache.pekko.actor.typed.SupervisorStrategy;
import org.apache.pekko.actor.typed.Terminated;
import org.apache.pekko.actor.typed.javadsl.Behaviors;

/**
 * Measures actors as real programs have them: in a scope, with names, with a restart policy and a
 * watcher. Compares them with children of a Pekko actor. The measurements are the heap of the
 * actors, the time to make many, and the time to close their scope. Each of the six variants,
 * called sides, runs in its own JVM, and keeps its actors in an array. With {@code -Djvms=2}, the
 * sides of a library share a JVM.
 */
public final class ScopedActors {
  private enum Kind { PLAIN, NAMED, WATCHED }

  private static final List<String> SIDES = List.of("fibry, in a scope", "fibry, with a name",
      "fibry, with a name, restarted and watched", "pekko, a child", "pekko, with a name",
      "pekko, with a name, restarted and watched");

  private ScopedActors() {}

  /** Makes {@code -Dsize} actors and ends them, {@code -Drounds} times. */
  public static void main(String[] args) throws Exception {
    if (args.length > 0) {
      for (var side : List.of(args).subList(1, args.length)) measure(SIDES.indexOf(side), Integer.parseInt(args[0]));
      System.exit(0); // because threads of Pekko are alive
    }
    int size = Experiment.size(1_000_000);
    String description = String.format(Locale.ROOT, "%,d idle actors in a scope, or below an actor of Pekko", size);
    var heap = new Experiment("scoped-heap", "heap per actor, including its name if it has one, of " + description);
    var making = new Experiment("scoped-made", "to make each of " + description);
    var ending = new Experiment("scoped-ended", "to end each of " + description + ", all at once");
    int sidesPerJvm = SIDES.size() / Integer.getInteger("jvms", SIDES.size());
    for (int firstSide = 0; firstSide < SIDES.size(); firstSide += sidesPerJvm) {
      var childArgs = new ArrayList<Object>(SIDES.subList(firstSide, firstSide + sidesPerJvm));
      childArgs.addFirst(size);
      var lines =
          ChildJvm.run(List.of(), List.of("-Drounds=" + Experiment.ROUNDS), ScopedActors.class, childArgs.toArray())
              .iterator();
      for (var side : SIDES.subList(firstSide, firstSide + sidesPerJvm)) {
        heap.add(ResultRow.of(side, "B each", "", ChildJvm.numbers(lines.next())));
        making.add(ResultRow.of(side, "ns each", "", ChildJvm.numbers(lines.next())));
        ending.add(ResultRow.of(side, "ns each", "", ChildJvm.numbers(lines.next())));
      }
    }
    heap.write();
    making.write();
    ending.write();
  }

  private static void measure(int sideIndex, int size) throws Exception {
    var kind = Kind.values()[sideIndex % Kind.values().length];
    double bytesPerActor = 0;
    var makingNanos = new Double[Experiment.ROUNDS];
    var endingNanos = new Double[Experiment.ROUNDS];
    for (int round = -Math.min(2, Experiment.ROUNDS); round < Experiment.ROUNDS; round++) { // negative rounds warm up
      var actors = new Object[size];
      long before = Experiment.usedHeap();
      long began = System.nanoTime();
      var endActors = sideIndex < Kind.values().length ? makeInFibry(kind, actors) : makeInPekko(kind, actors);
      double nanosPerActor = Experiment.secondsSince(began) * 1e9 / size;
      bytesPerActor = (Experiment.usedHeap() - before) / (double) size;
      began = System.nanoTime();
      endActors.run();
      if (round < 0) continue;
      makingNanos[round] = nanosPerActor;
      endingNanos[round] = Experiment.secondsSince(began) * 1e9 / size;
      if (actors[size - 1] == null) throw new AssertionError(); // keeps the actors reachable until here
    }
    ChildJvm.tell(bytesPerActor);
    ChildJvm.tell((Object[]) makingNanos);
    ChildJvm.tell((Object[]) endingNanos);
  }

  /** Makes the actors, and returns code that ends them. */
  private static Runnable makeInFibry(Kind kind, Object[] actors) {
    var scope = ActorSystem.openScope("scope");
    for (int i = 0; i < actors.length; i++) actors[i] = builder(scope, kind, i).newActor(message -> {});
    if (kind != Kind.WATCHED) return scope::close;
    var watcher = ActorSystem.anonymous()
        .newActorWithReturn((Object[] watchedActors, ActorContext<Object[]> context) -> {
          for (var actor : watchedActors) context.watch((Exitable) actor, reason -> new Object[0]);
          return watchedActors.length;
        });
    watcher.ask(actors);
    return () -> {
      scope.close();
      watcher.close();
    };
  }

  private static ActorBuilder<Object> builder(ActorScope scope, Kind kind, int number) {
    if (kind == Kind.PLAIN) return scope.anonymous();
    var named = scope.named("actor-" + number);
    return kind == Kind.NAMED ? named : named.onFailure(FailurePolicy.restart());
  }

  private static Runnable makeInPekko(Kind kind, Object[] actors) {
    Behavior<Object> idleBehavior = Behaviors.receiveMessage(message -> Behaviors.same());
    Behavior<Object> childBehavior =
        kind == Kind.WATCHED ? Behaviors.supervise(idleBehavior).onFailure(SupervisorStrategy.restart()) : idleBehavior;
    var allMade = new CompletableFuture<Void>();
    ActorRef<Object> parent = PekkoSystem.spawn(Behaviors.setup(context -> {
      for (int i = 0; i < actors.length; i++) {
        ActorRef<Object> actor = kind == Kind.PLAIN ? context.spawnAnonymous(childBehavior)
            : context.spawn(childBehavior, "actor-" + i);
        if (kind == Kind.WATCHED) context.watch(actor);
        actors[i] = actor;
      }
      allMade.complete(null);
      return Behaviors.receive(Object.class).onSignal(Terminated.class,
          signal -> Behaviors.same()).build();
    }));
    allMade.join();
    return () -> PekkoSystem.stop(parent);
  }
}
