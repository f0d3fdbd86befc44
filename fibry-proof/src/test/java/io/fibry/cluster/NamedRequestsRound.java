package io.fibry.cluster;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.fibry.Actor;
import io.fibry.ActorContext;
import io.fibry.ActorScope;
import io.fibry.ActorStoppedException;
import io.fibry.Request;
import io.fibry.cluster.NamedMessages.Count;
import io.fibry.cluster.NamedMessages.Entry;
import io.fibry.cluster.NamedMessages.Sent;
import io.fibry.simulation.Simulation;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;

/**
 * Several senders send messages and requests to an actor by its name, in the process of the only
 * node. Requests whose sender has no message in flight do not pass the network.
 */
final class NamedRequestsRound {
  record Pending() implements Request<Pending, Integer> {}

  private static final int SENDERS = 3;
  private static final int MESSAGES = 20;
  private static final int MAX_YIELDS = 200; // of the thread that withdraws the offer, before it does so
  private static final Duration LIMIT = Duration.ofHours(1);

  private final SplittableRandom random;
  private final NamedMessages messages = new NamedMessages();
  private final ActorScope scope;

  NamedRequestsRound(Simulation simulation) {
    this.random = simulation.random().split();
    // without the context propagator of the simulation, with which requests would take the network
    this.scope = simulation.scope().openScope("names",
        options -> ActorScope.Options.defaults().withScheduler(options.scheduler()));
  }

  private Cluster join() {
    var node = Cluster.join("shop", MemoryNetwork.ofOneNode(), options -> options.withScope(scope));
    node.expose("pending", Pending.class, scope.anonymous().newActor(
        (Pending pending, ActorContext<Pending> context) -> context.reply(pending, node.health().pendingRequests())));
    assertEquals(0, node.actor("pending", Pending.class).ask(new Pending()), "requests in the network");
    return node;
  }

  private Actor<Entry> newCounter() {
    return scope.anonymous().newActor(messages::handle);
  }

  /** Each message must arrive once and in order; a cancelled request may be missing. */
  void playOrder() throws InterruptedException {
    var sent = new Sent[SENDERS];
    try (var node = join()) {
      node.expose("counter", Entry.class, newCounter());
      var senders = new ArrayList<Thread>();
      for (int i = 0; i < SENDERS; i++) {
        int sender = i;
        var senderRandom = random.split();
        senders.add(Thread.ofVirtual().start(() -> sent[sender] =
            NamedMessages.send(node.actor("counter", Entry.class), sender, MESSAGES, senderRandom, LIMIT)));
      }
      for (var sender : senders) sender.join();
    }
    for (int i = 0; i < SENDERS; i++) messages.check(i, sent[i]);
  }

  // ---- the end of an offer

  /**
   * The offer is withdrawn while askers send requests, of which some pass the network. The actor
   * ends as soon as its offer was withdrawn. No later request may find it ended, and no request may
   * overtake an earlier one.
   */
  void playWithdrawal() throws InterruptedException {
    var lateRequests = new ArrayList<Integer>();
    try (var node = join()) {
      var actor = newCounter();
      var offer = node.expose("counter", Entry.class, actor);
      var askers = new ArrayList<Thread>();
      for (int i = 0; i < SENDERS; i++) {
        int sender = i;
        var askerRandom = random.split();
        askers.add(Thread.ofVirtual()
            .start(() -> ask(node.actor("counter", Entry.class), sender, askerRandom, lateRequests)));
      }
      for (int i = random.nextInt(MAX_YIELDS); i >= 0; i--) Thread.yield(); // meanwhile the askers send requests
      offer.close();
      actor.close();
      for (var asker : askers) asker.join();
    }
    assertEquals(List.of(), lateRequests, "senders of late requests");
    messages.checkOrder();
  }

  private static void ask(Actor<Entry> counter, int sender, SplittableRandom random, List<Integer> lateRequests) {
    try {
      for (int number = 0; number < MESSAGES; number++)
        if (random.nextInt(4) > 0) counter.sendMessageReturn(new Count(sender, number), LIMIT);
        else counter.ask(new Count(sender, number));
    } catch (UnavailableException withdrawn) { // as expected
    } catch (ActorStoppedException late) {
      lateRequests.add(sender);
    }
  }
}
