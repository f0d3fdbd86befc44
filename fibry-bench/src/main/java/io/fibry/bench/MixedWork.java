package io.fibry.bench;

import io.fibry.Actor;
import io.fibry.ActorBuilder;
import io.fibry.ActorContext;
import io.fibry.ActorSystem;
import io.fibry.FailurePolicy;
import io.fibry.bench.PairedMeasurement.Workload;
import io.fibry.mailbox.Mailbox;
import io.fibry.mailbox.Overflow;
import io.fibry.pool.Pools;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.function.UnaryOperator;

/**
 * Work of all kinds of strategies, mailboxes, handlers and requests. A program that does one thing
 * gets faster code than a program that does all of this, because the JIT compiler inlines a call
 * with one target, and not a call with many.
 */
final class MixedWork {
  private static final int ROUNDS = 4;
  private static final int TIMES = 10_000;
  private static final int CAPACITY = 64;
  private static final List<String> STRATEGIES = List.of("fiber", "thread", "resident", "forkjoin");

  private MixedWork() {}

  /** Done once, at its first use. */
  private static final class Once {
    private static final boolean IS_DONE = run();

    private static boolean run() {
      try {
        var works = works();
        for (int i = 0; i < ROUNDS; i++) for (var work : works) work.nanosEach(TIMES);
        return true;
      } catch (Exception failure) {
        throw new IllegalStateException(failure);
      }
    }
  }

  /** Returns a workload that does all mixed work first, once in each process. */
  static Workload before(Workload workload) {
    return times -> Once.IS_DONE ? workload.nanosEach(times) : Double.NaN;
  }

  static List<Workload> works() {
    var works = new ArrayList<Workload>();
    for (var strategy : STRATEGIES) {
      works.add(times -> CarrierWorkloads.messages(strategy, 1, times));
      works.add(times -> CarrierWorkloads.messages(strategy, 4, times));
      works.add(times -> CarrierWorkloads.boundedMailbox(strategy, CAPACITY, times));
      works.add(times -> CarrierWorkloads.asks(strategy, times));
      works.add(times -> PeerWorkloads.priority(strategy, times));
    }
    works
        .addAll(List.of(times -> PeerWorkloads.handOvers("fiber", times), times -> PeerWorkloads.timers("fiber", times),
            ActorWorkloads::createSinks, ActorWorkloads::requests, ActorWorkloads::asks, ActorWorkloads::inlineAsks,
            PoolWorkloads::pool, PoolWorkloads::pipeline));
    for (var overflow : Overflow.values())
      works.add(messages(builder -> builder.mailbox(Mailbox.bounded(TIMES, overflow))));
    works.add(messages(builder -> builder.mailbox(Mailbox.unbounded().selective())));
    works.add(messages(builder -> builder.onFailure(FailurePolicy.resume())));
    works.add(messages(builder -> builder.intercept((message, next) -> next.run())));
    works.add(messages(Pools::perMessage));
    works.add(times -> handled(times,
        ActorSystem.anonymous()
            .newActor((CountDownLatch done, ActorContext<CountDownLatch> context) -> done.countDown())));
    works.add(times -> handled(times, ActorSystem.anonymous().initialState(Object::new)
        .newActor((Object state, CountDownLatch done) -> done.countDown())));
    return works;
  }

  private static Workload messages(UnaryOperator<ActorBuilder<Object>> options) {
    return times -> handled(times,
        options.apply(ActorSystem.anonymous()).newActor((CountDownLatch done) -> done.countDown()));
  }

  private static double handled(int times, Actor<CountDownLatch> actor) throws Exception {
    try (actor) {
      var done = new CountDownLatch(times);
      return ActorWorkloads.onVirtualThread(times, () -> {
        for (int i = 0; i < times; i++) actor.sendMessage(done);
        done.await();
      });
    }
  }
}
