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
 * The actors of real programs: they live in a scope, have names, are restarted and watched. Their
 * heap, and the time to make many and to close their scope, beside children of a Pekko actor. Every
 * side has a JVM of its own, and keeps all actors in an array. With {@code -Djvms=2}, the sides of
 * a library share a JVM.
 */
public final class ScopedActors {
  private enum Kind { PLAIN, NAMED, WATCHED }

  private static final List<String> SIDES = List.of("fibry, in a scope", "fibry, with a name",
      "fibry, with a name, restarted and watched", "pekko, a child", "pekko, with a name",
      "pekko, with a name, restarted and watched");

  private ScopedActors() {}

  /** {@code -Dsize} actors, made and ended {@code -Drounds} times. */
  public static void main(String[] args) throws Exception {
    if (args.length > 0) {
      for (var side : List.of(args).subList(1, args.length)) measure(SIDES.indexOf(side), Integer.parseInt(args[0]));
      System.exit(0); // threads of Pekko are alive
    }
    int size = Experiment.size(1_000_000);
    String many = String.format(Locale.ROOT, "%,d idle actors in a scope, or below an actor of Pekko", size);
    var heap = new Experiment("scoped-heap", "heap of each of " + many + ", with its name");
    var made = new Experiment("scoped-made", "to make each of " + many);
    var ended = new Experiment("scoped-ended", "to end each of " + many + ", all at once");
    int each = SIDES.size() / Integer.getInteger("jvms", SIDES.size());
    for (int from = 0; from < SIDES.size(); from += each) {
      var inChild = new ArrayList<Object>(SIDES.subList(from, from + each));
      inChild.addFirst(size);
      var told =
          ChildJvm.run(List.of(), List.of("-Drounds=" + Experiment.ROUNDS), ScopedActors.class, inChild.toArray())
              .iterator();
      for (var side : SIDES.subList(from, from + each)) {
        heap.add(ResultRow.of(side, "B each", "", ChildJvm.numbers(told.next())));
        made.add(ResultRow.of(side, "ns each", "", ChildJvm.numbers(told.next())));
        ended.add(ResultRow.of(side, "ns each", "", ChildJvm.numbers(told.next())));
      }
    }
    heap.write();
    made.write();
    ended.write();
  }

  private static void measure(int side, int size) throws Exception {
    var kind = Kind.values()[side % Kind.values().length];
    double heap = 0;
    var made = new Double[Experiment.ROUNDS];
    var ended = new Double[Experiment.ROUNDS];
    for (int round = -Math.min(2, Experiment.ROUNDS); round < Experiment.ROUNDS; round++) { // negative rounds warm up
      var kept = new Object[size];
      long before = Experiment.usedHeap();
      long began = System.nanoTime();
      var end = side < Kind.values().length ? inFibry(kind, kept) : inPekko(kind, kept);
      double making = Experiment.seconds(began) * 1e9 / size;
      heap = (Experiment.usedHeap() - before) / (double) size;
      began = System.nanoTime();
      end.run();
      if (round < 0) continue;
      made[round] = making;
      ended[round] = Experiment.seconds(began) * 1e9 / size;
      if (kept[size - 1] == null) throw new AssertionError(); // keeps them alive until here
    }
    ChildJvm.tell(heap);
    ChildJvm.tell((Object[]) made);
    ChildJvm.tell((Object[]) ended);
  }

  /** Returns code that ends them. */
  private static Runnable inFibry(Kind kind, Object[] kept) {
    var scope = ActorSystem.openScope("scope");
    for (int i = 0; i < kept.length; i++) kept[i] = builder(scope, kind, i).newActor(message -> {});
    if (kind != Kind.WATCHED) return scope::close;
    var watcher = ActorSystem.anonymous().newActorWithReturn((Object[] watched, ActorContext<Object[]> context) -> {
      for (var one : watched) context.watch((Exitable) one, reason -> new Object[0]);
      return watched.length;
    });
    watcher.ask(kept);
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

  private static Runnable inPekko(Kind kind, Object[] kept) {
    Behavior<Object> idle = Behaviors.receiveMessage(message -> Behaviors.same());
    Behavior<Object> child =
        kind == Kind.WATCHED ? Behaviors.supervise(idle).onFailure(SupervisorStrategy.restart()) : idle;
    var made = new CompletableFuture<Void>();
    ActorRef<Object> parent = PekkoSystem.spawn(Behaviors.setup(context -> {
      for (int i = 0; i < kept.length; i++) {
        ActorRef<Object> one = kind == Kind.PLAIN ? context.spawnAnonymous(child) : context.spawn(child, "actor-" + i);
        if (kind == Kind.WATCHED) context.watch(one);
        kept[i] = one;
      }
      made.complete(null);
      return Behaviors.receive(Object.class).onSignal(Terminated.class,
          gone -> Behaviors.same()).build();
    }));
    made.join();
    return () -> PekkoSystem.stop(parent);
  }
}
