package io.fibry;

import io.fibry.mailbox.Mailbox;
import io.fibry.mailbox.Overflow;
import io.fibry.simulation.Simulation;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;

/**
 * Single promises that accounts do not show, each at the moment at which it is hard to keep: while
 * others end, cancel, restart or replace.
 */
final class PromisesRound {
  private static final Duration SOON = Duration.ofMinutes(1);
  private static final Duration LONG = Duration.ofHours(3);

  record Work(int number) implements Request<Work, Integer> {}

  private final Simulation simulation;
  private final SplittableRandom random;

  PromisesRound(Simulation simulation) {
    this.simulation = simulation;
    this.random = simulation.random().split();
  }

  void play() throws Exception {
    simulation.faults().withStalls(0.05, Duration.ofMillis(5)).withDelays(0.05, Duration.ofMillis(5));
    switch (random.nextInt(11)) {
      case 0 -> anEndDoesNotWaitForARestart();
      case 1 -> aRestartBringsANewState();
      case 2 -> whatWasStashedIsNotLost();
      case 3 -> watchersAreTold();
      case 4 -> aPromiseFailsAtTheEnd();
      case 5 -> onlyTheLastTimerOfAKeyGoesOff();
      case 6 -> anAskEndsAtItsLimit();
      case 7 -> aStopHookRunsOnce();
      case 8 -> askersOfAnActorThatIsCutOffAreTold();
      case 9 -> aSenderThatGivesUpLetsTheNextOneIn();
      default -> aCancelledRequestGivesItsRoomBack();
    }
  }

  private Strategy strategy() {
    var all = List.of(Strategy.FIBER, Strategy.RESIDENT_FIBER, Strategy.THREAD);
    return all.get(random.nextInt(all.size()));
  }

  private void end(Actor<?> actor) {
    switch (random.nextInt(3)) {
      case 0 -> actor.askExit();
      case 1 -> actor.kill();
      default -> actor.sendPoisonPill();
    }
  }

  /**
   * Refuses threads once the actors exist, because an actor that gets no thread at its birth is not
   * made.
   */
  private void refuseThreads() {
    simulation.faults().withFailedThreadStarts(0.05);
  }

  private void pause(int micros) throws InterruptedException {
    Thread.sleep(Duration.ofNanos(1 + random.nextInt(micros * 1_000)));
  }

  private static void check(boolean holds, String what) {
    if (!holds) throw new AssertionError(what);
  }

  private void anEndDoesNotWaitForARestart() throws Exception {
    var actor = simulation.scope().named("failing").strategy(strategy())
        .onFailure(FailurePolicy.restart().withBackoff(LONG, LONG).withoutLog()).initialState(Object::new)
        .onStop(state -> Thread.sleep(1)).newActor((Object state, Integer number) -> {
          throw new IllegalStateException("planned");
        });
    refuseThreads();
    actor.sendMessage(1);
    pause(3_000);
    boolean kill = random.nextBoolean();
    if (kill) actor.kill();
    else actor.askExit();
    check(actor.waitForExit(SOON), "its end waits for the pause before a restart");
  }

  private void aRestartBringsANewState() throws Exception {
    var begun = new int[1];
    var sum = new int[1];
    var wrong = new ArrayList<String>();
    var actor = simulation.scope().named("counter").strategy(strategy())
        .onFailure((random.nextBoolean() ? FailurePolicy.restart()
            : FailurePolicy.restart().withBackoff(Duration.ofMillis(1), Duration.ofMillis(4))).withoutLog())
        .initialState(() -> {
          begun[0]++;
          sum[0] = 0;
          return new int[1];
        }).newActor((int[] state, Integer number) -> {
          if (state[0] != sum[0]) wrong.add(state[0] + " in a state that should have " + sum[0]);
          if (number % 4 == 0) {
            sum[0] = 0;
            throw new IllegalStateException("planned");
          }
          state[0] += number;
          sum[0] += number;
          if (random.nextInt(8) == 0) Thread.sleep(1);
        });
    refuseThreads();
    for (int i = 0; i < 3; i++) {
      int client = i;
      simulation.client("client" + i, () -> {
        for (int j = 1; j < 6; j++) actor.sendMessage(3 * j + client);
        return null;
      });
    }
    if (random.nextBoolean()) simulation.join();
    else pause(10_000);
    end(actor);
    check(actor.waitForExit(SOON), "it does not end");
    check(wrong.isEmpty(), wrong.toString());
  }

  private void whatWasStashedIsNotLost() throws Exception {
    var done = new ArrayList<Integer>();
    var open = new boolean[1];
    var failing = new boolean[] {random.nextBoolean()};
    var actor = simulation.scope().named("door").strategy(strategy()).mailbox(Mailbox.unbounded().selective())
        .onFailure(FailurePolicy.restart().withoutLog()).initialState(Object::new)
        .newActor((Object state, Work work, ActorContext<Work> context) -> {
          if (work.number() == 0) {
            boolean fails = failing[0];
            boolean shut = !open[0];
            failing[0] = false;
            open[0] = true;
            if (fails) throw new IllegalStateException("planned"); // the restart brings the stash back
            if (shut) context.unstash();
          } else if (!open[0]) {
            context.stash();
            return;
          }
          done.add(work.number());
          context.reply(work, work.number());
        });
    refuseThreads();
    var answers = new ArrayList<CompletableFuture<Integer>>();
    for (int i = 0; i < 3; i++) {
      int client = i;
      simulation.client("client" + i, () -> {
        for (int j = 1; j < 4; j++) answers.add(actor.sendMessageReturn(new Work(10 * client + j)));
        return null;
      });
    }
    pause(50);
    actor.sendMessage(new Work(0));
    pause(50);
    actor.sendMessage(new Work(0));
    simulation.join();
    for (var answer : answers) answer.get(1, TimeUnit.MINUTES);
    check(done.stream().filter(number -> number > 0).distinct().count() == 9, "handled were " + done);
  }

  private void watchersAreTold() throws Exception {
    var told = new int[4];
    var actor = simulation.scope().named("watched").strategy(strategy()).newActor((Integer number) -> Thread.sleep(1));
    actor.sendMessage(1);
    var watchers = new ArrayList<Actor<Object>>();
    for (int i = 0; i < told.length; i++) {
      int me = i;
      watchers.add(simulation.scope().named("watcher" + i).newActor((Object news, ActorContext<Object> context) -> {
        if (news.equals("watch")) context.watch(actor, reason -> reason);
        else told[me]++;
      }));
    }
    refuseThreads();
    for (var watcher : watchers) simulation.client("client", () -> {
      Thread.sleep(Duration.ofNanos(1 + simulation.random().nextInt(2_000_000)));
      return watcher.sendMessage("watch");
    });
    pause(2_000);
    end(actor);
    simulation.join();
    simulation.assertEventually("each is told of the end", SOON, () -> List.of(told[0], told[1], told[2], told[3])
        .equals(List.of(1, 1, 1, 1)));
  }

  private void aPromiseFailsAtTheEnd() throws Exception {
    var actor =
        simulation.scope().named("promising").strategy(strategy()).newActor((Work work, ActorContext<Work> context) -> {
          context.replyWhen(work, new CompletableFuture<>());
        });
    refuseThreads();
    var told = toldOfTheEnd(actor, () -> Thread.sleep(Duration.ofNanos(1 + simulation.random().nextInt(1_000_000))));
    pause(1_000);
    end(actor);
    simulation.assertEventually("each asker is told of the end", SOON, () -> told[0] == 3);
  }

  private interface Pause {
    void take() throws InterruptedException;
  }

  /**
   * Three clients ask after a pause each; counts the clients that are told that the actor has
   * ended.
   */
  private int[] toldOfTheEnd(Actor<Work> actor, Pause before) {
    var told = new int[1];
    for (int i = 0; i < 3; i++) simulation.client("client" + i, () -> {
      before.take();
      try {
        actor.ask(new Work(1), LONG);
      } catch (ActorStoppedException stopped) {
        told[0]++;
      }
      return null;
    });
    return told;
  }

  private void onlyTheLastTimerOfAKeyGoesOff() throws Exception {
    var seen = new ArrayList<Integer>();
    var actor = simulation.scope().named("alarm").strategy(strategy()).newActor((Integer number) -> seen.add(number));
    refuseThreads();
    for (int i = 1; i < 6; i++) {
      actor.sendMessageLater("key", i, Duration.ofSeconds(1));
      pause(1_000);
    }
    check(simulation.time().compareTo(Duration.ofMillis(900)) > 0 || seen.isEmpty(), "early: " + seen);
    Thread.sleep(5_000);
    if (simulation.time().compareTo(Duration.ofMillis(6_000)) < 0) check(seen.equals(List.of(5)), "went off: " + seen);
  }

  private void aCancelledRequestGivesItsRoomBack() throws Exception {
    var actor = simulation.scope().named("slow").strategy(strategy()).mailbox(Mailbox.bounded(2, Overflow.REJECT))
        .newActor((Work work, ActorContext<Work> context) -> {
          if (work.number() == 0) Thread.sleep(LONG);
          context.reply(work, work.number());
        });
    refuseThreads();
    actor.sendMessage(new Work(0));
    pause(1_000);
    Thread.sleep(100);
    var first = actor.sendMessageReturn(new Work(1));
    var second = actor.sendMessageReturn(new Work(2));
    check(!first.isDone() && !second.isDone(), "there was no room: " + first + ", " + second);
    (random.nextBoolean() ? first : second).cancel(true);
    check(actor.sendMessage(new Work(3)), "there is no room, though a request was taken back");
    actor.kill();
  }

  private void anAskEndsAtItsLimit() throws Exception {
    var actor = simulation.scope().named("deaf").strategy(strategy())
        .newActor((Work work, ActorContext<Work> context) -> Thread.sleep(LONG));
    refuseThreads();
    var told = new int[1];
    for (int i = 0; i < 3; i++) simulation.client("client" + i, () -> {
      try {
        actor.ask(new Work(1), Duration.ofSeconds(1));
      } catch (AskTimeoutException late) {
        told[0]++;
      }
      return null;
    });
    simulation.assertEventually("each asker is told that it is late", SOON, () -> told[0] == 3);
    actor.kill();
  }

  private void aStopHookRunsOnce() throws Exception {
    var stopped = new int[1];
    var actor = simulation.scope().named("leaving").strategy(strategy()).initialState(Object::new).onStop(state -> {
      stopped[0]++;
      Thread.sleep(1);
    }).newActor((Object state, Integer number) -> {});
    refuseThreads();
    actor.sendMessage(1);
    boolean atOnce = random.nextBoolean();
    for (int i = 0; i < 3; i++) simulation.client("client" + i, () -> {
      if (!atOnce) Thread.sleep(Duration.ofNanos(1 + simulation.random().nextInt(2_000_000)));
      actor.sendPoisonPill();
      return null;
    });
    simulation.join();
    check(actor.waitForExit(SOON), "it does not end");
    Thread.sleep(1_000);
    check(stopped[0] == 1, "its stop hook ran " + stopped[0] + " times");
  }

  private void askersOfAnActorThatIsCutOffAreTold() throws Exception {
    var patience = SOON.multipliedBy(3);
    var actor =
        simulation.scope().named("stubborn").strategy(strategy()).newActor((Work work, ActorContext<Work> context) -> {
          while (simulation.time().compareTo(patience) < 0) {
            try {
              Thread.sleep(1_000);
            } catch (InterruptedException ignored) {
              // it does not obey
            }
          }
        });
    refuseThreads();
    var told = toldOfTheEnd(actor, () -> {});
    pause(1_000);
    actor.kill();
    simulation.assertEventually("each asker is told that it was cut off", SOON, () -> told[0] == 3);
  }

  private void aSenderThatGivesUpLetsTheNextOneIn() throws Exception {
    var actor = simulation.scope().named("full").strategy(strategy()).mailbox(Mailbox.bounded(3, Overflow.BLOCK))
        .newActor((Integer number) -> Thread.sleep(LONG));
    refuseThreads();
    actor.sendMessage(1);
    Thread.sleep(1_000);
    actor.sendMessages(List.of(2, 3));
    var tooLarge = simulation.client("too large", () -> {
      try {
        return actor.sendMessages(List.of(4, 5));
      } catch (CancellationException interrupted) {
        return null;
      }
    });
    Thread.sleep(1_000);
    var entered = new boolean[1];
    simulation.client("small", () -> entered[0] = actor.sendMessage(6));
    if (random.nextBoolean()) pause(1_000);
    tooLarge.interrupt();
    simulation.assertEventually("the next sender has room", SOON, () -> entered[0]);
    actor.kill();
  }
}
