package io.fibry.stress;

import io.fibry.Actor;
import io.fibry.ActorContext;
import io.fibry.ActorStoppedException;
import io.fibry.AskTimeoutException;
import io.fibry.FailurePolicy;
import io.fibry.Request;
import io.fibry.Strategy;
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
 * Checks promises that the other rounds do not check; those rounds check the outcomes of messages.
 * While a promise is checked, threads end or restart the actor, cancel requests or replace timers.
 */
final class PromisesRound {
  private static final Duration EXIT_LIMIT = Duration.ofMinutes(1);
  private static final Duration THREE_HOURS = Duration.ofHours(3);

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
      case 0 -> exitDoesNotWaitForRestart();
      case 1 -> restartCreatesNewState();
      case 2 -> stashedMessagesAreNotLost();
      case 3 -> watchersAreNotified();
      case 4 -> promisedReplyFailsWhenActorEnds();
      case 5 -> onlyLastTimerOfKeyFires();
      case 6 -> askFailsAtItsLimit();
      case 7 -> stopHookRunsOnce();
      case 8 -> askersOfAbandonedActorAreNotified();
      case 9 -> cancelledSenderLetsNextSenderIn();
      default -> cancelledRequestFreesItsCapacity();
    }
  }

  private Strategy strategy() {
    var strategies = List.of(Strategy.FIBER, Strategy.RESIDENT_FIBER, Strategy.THREAD);
    return strategies.get(random.nextInt(strategies.size()));
  }

  private void end(Actor<?> actor) {
    switch (random.nextInt(3)) {
      case 0 -> actor.askExit();
      case 1 -> actor.kill();
      default -> actor.sendPoisonPill();
    }
  }

  /**
   * Refuses some thread starts. Called after the actors exist, because the creation of an actor
   * fails if the actor gets no thread.
   */
  private void refuseThreads() {
    simulation.faults().withFailedThreadStarts(0.05);
  }

  private void pause(int micros) throws InterruptedException {
    Thread.sleep(Duration.ofNanos(1 + random.nextInt(micros * 1_000)));
  }

  private static void check(boolean isKept, String message) {
    if (!isKept) throw new AssertionError(message);
  }

  private void exitDoesNotWaitForRestart() throws Exception {
    var actor = simulation.scope().named("failing").strategy(strategy())
        .onFailure(FailurePolicy.restart().withBackoff(THREE_HOURS, THREE_HOURS).withoutLog()).initialState(Object::new)
        .onStop(state -> Thread.sleep(1)).newActor((Object state, Integer number) -> {
          throw new IllegalStateException("planned");
        });
    refuseThreads();
    actor.sendMessage(1);
    pause(3_000);
    boolean kill = random.nextBoolean();
    if (kill) actor.kill();
    else actor.askExit();
    check(actor.waitForExit(EXIT_LIMIT), "the exit waits for the backoff before a restart");
  }

  private void restartCreatesNewState() throws Exception {
    var starts = new int[1];
    var sum = new int[1];
    var errors = new ArrayList<String>();
    var actor = simulation.scope().named("counter").strategy(strategy())
        .onFailure((random.nextBoolean() ? FailurePolicy.restart()
            : FailurePolicy.restart().withBackoff(Duration.ofMillis(1), Duration.ofMillis(4))).withoutLog())
        .initialState(() -> {
          starts[0]++;
          sum[0] = 0;
          return new int[1];
        }).newActor((int[] state, Integer number) -> {
          if (state[0] != sum[0]) errors.add(state[0] + " in a state whose sum should be " + sum[0]);
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
    check(actor.waitForExit(EXIT_LIMIT), "the actor does not end");
    check(errors.isEmpty(), errors.toString());
  }

  private void stashedMessagesAreNotLost() throws Exception {
    var handled = new ArrayList<Integer>();
    var isOpen = new boolean[1];
    var mayFail = new boolean[] {random.nextBoolean()};
    var actor = simulation.scope().named("door").strategy(strategy()).mailbox(Mailbox.unbounded().selective())
        .onFailure(FailurePolicy.restart().withoutLog()).initialState(Object::new)
        .newActor((Object state, Work work, ActorContext<Work> context) -> {
          if (work.number() == 0) {
            boolean fails = mayFail[0];
            boolean wasClosed = !isOpen[0];
            mayFail[0] = false;
            isOpen[0] = true;
            // The restart returns the stashed messages to the mailbox
            if (fails) throw new IllegalStateException("planned");
            if (wasClosed) context.unstash();
          } else if (!isOpen[0]) {
            context.stash();
            return;
          }
          handled.add(work.number());
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
    check(handled.stream().filter(number -> number > 0).distinct().count() == 9, "handled: " + handled);
  }

  private void watchersAreNotified() throws Exception {
    var notices = new int[4];
    var actor = simulation.scope().named("watched").strategy(strategy()).newActor((Integer number) -> Thread.sleep(1));
    actor.sendMessage(1);
    var watchers = new ArrayList<Actor<Object>>();
    for (int i = 0; i < notices.length; i++) {
      int index = i;
      watchers.add(simulation.scope().named("watcher" + i).newActor((Object message, ActorContext<Object> context) -> {
        if (message.equals("watch")) context.watch(actor, reason -> reason);
        else notices[index]++;
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
    simulation.assertEventually("each watcher is notified of the end", EXIT_LIMIT,
        () -> List.of(notices[0], notices[1], notices[2], notices[3]).equals(List.of(1, 1, 1, 1)));
  }

  private void promisedReplyFailsWhenActorEnds() throws Exception {
    var actor =
        simulation.scope().named("promising").strategy(strategy()).newActor((Work work, ActorContext<Work> context) -> {
          context.replyWhen(work, new CompletableFuture<>());
        });
    refuseThreads();
    var failedAsks =
        countStoppedAsks(actor, () -> Thread.sleep(Duration.ofNanos(1 + simulation.random().nextInt(1_000_000))));
    pause(1_000);
    end(actor);
    simulation.assertEventually("each ask fails at the end", EXIT_LIMIT, () -> failedAsks[0] == 3);
  }

  private interface Pause {
    void run() throws InterruptedException;
  }

  /**
   * Starts three clients, each of which pauses and then asks. Returns the count of asks that fail
   * because the actor has ended.
   */
  private int[] countStoppedAsks(Actor<Work> actor, Pause pause) {
    var failedAsks = new int[1];
    for (int i = 0; i < 3; i++) simulation.client("client" + i, () -> {
      pause.run();
      try {
        actor.ask(new Work(1), THREE_HOURS);
      } catch (ActorStoppedException stopped) {
        failedAsks[0]++;
      }
      return null;
    });
    return failedAsks;
  }

  private void onlyLastTimerOfKeyFires() throws Exception {
    var received = new ArrayList<Integer>();
    var actor =
        simulation.scope().named("alarm").strategy(strategy()).newActor((Integer number) -> received.add(number));
    refuseThreads();
    for (int i = 1; i < 6; i++) {
      actor.sendMessageLater("key", i, Duration.ofSeconds(1));
      pause(1_000);
    }
    check(simulation.time().compareTo(Duration.ofMillis(900)) > 0 || received.isEmpty(), "fired early: " + received);
    Thread.sleep(5_000);
    if (simulation.time().compareTo(Duration.ofMillis(6_000)) < 0)
      check(received.equals(List.of(5)), "fired: " + received);
  }

  private void cancelledRequestFreesItsCapacity() throws Exception {
    var actor = simulation.scope().named("slow").strategy(strategy()).mailbox(Mailbox.bounded(2, Overflow.REJECT))
        .newActor((Work work, ActorContext<Work> context) -> {
          if (work.number() == 0) Thread.sleep(THREE_HOURS);
          context.reply(work, work.number());
        });
    refuseThreads();
    actor.sendMessage(new Work(0));
    pause(1_000);
    Thread.sleep(100);
    var first = actor.sendMessageReturn(new Work(1));
    var second = actor.sendMessageReturn(new Work(2));
    check(!first.isDone() && !second.isDone(), "requests were refused: " + first + ", " + second);
    (random.nextBoolean() ? first : second).cancel(true);
    check(actor.sendMessage(new Work(3)), "the mailbox is full though a request was cancelled");
    actor.kill();
  }

  private void askFailsAtItsLimit() throws Exception {
    var actor = simulation.scope().named("deaf").strategy(strategy())
        .newActor((Work work, ActorContext<Work> context) -> Thread.sleep(THREE_HOURS));
    refuseThreads();
    var timeouts = new int[1];
    for (int i = 0; i < 3; i++) simulation.client("client" + i, () -> {
      try {
        actor.ask(new Work(1), Duration.ofSeconds(1));
      } catch (AskTimeoutException timeout) {
        timeouts[0]++;
      }
      return null;
    });
    simulation.assertEventually("each ask times out", EXIT_LIMIT, () -> timeouts[0] == 3);
    actor.kill();
  }

  private void stopHookRunsOnce() throws Exception {
    var hookRuns = new int[1];
    var actor = simulation.scope().named("leaving").strategy(strategy()).initialState(Object::new).onStop(state -> {
      hookRuns[0]++;
      Thread.sleep(1);
    }).newActor((Object state, Integer number) -> {});
    refuseThreads();
    actor.sendMessage(1);
    boolean withoutPause = random.nextBoolean();
    for (int i = 0; i < 3; i++) simulation.client("client" + i, () -> {
      if (!withoutPause) Thread.sleep(Duration.ofNanos(1 + simulation.random().nextInt(2_000_000)));
      actor.sendPoisonPill();
      return null;
    });
    simulation.join();
    check(actor.waitForExit(EXIT_LIMIT), "the actor does not end");
    Thread.sleep(1_000);
    check(hookRuns[0] == 1, "the stop hook ran " + hookRuns[0] + " times");
  }

  private void askersOfAbandonedActorAreNotified() throws Exception {
    var end = EXIT_LIMIT.multipliedBy(3);
    var actor =
        simulation.scope().named("stubborn").strategy(strategy()).newActor((Work work, ActorContext<Work> context) -> {
          while (simulation.time().compareTo(end) < 0) {
            try {
              Thread.sleep(1_000);
            } catch (InterruptedException ignored) {
              // the handler ignores interrupts
            }
          }
        });
    refuseThreads();
    var failedAsks = countStoppedAsks(actor, () -> {});
    pause(1_000);
    actor.kill();
    simulation.assertEventually("each ask fails after the kill", EXIT_LIMIT, () -> failedAsks[0] == 3);
  }

  private void cancelledSenderLetsNextSenderIn() throws Exception {
    var actor = simulation.scope().named("full").strategy(strategy()).mailbox(Mailbox.bounded(3, Overflow.BLOCK))
        .newActor((Integer number) -> Thread.sleep(THREE_HOURS));
    refuseThreads();
    actor.sendMessage(1);
    Thread.sleep(1_000);
    actor.sendMessages(List.of(2, 3));
    var tooLargeSender = simulation.client("too large", () -> {
      try {
        return actor.sendMessages(List.of(4, 5));
      } catch (CancellationException interrupted) {
        return null;
      }
    });
    Thread.sleep(1_000);
    var accepted = new boolean[1];
    simulation.client("small", () -> accepted[0] = actor.sendMessage(6));
    if (random.nextBoolean()) pause(1_000);
    tooLargeSender.interrupt();
    simulation.assertEventually("the next message is accepted", EXIT_LIMIT, () -> accepted[0]);
    actor.kill();
  }
}
