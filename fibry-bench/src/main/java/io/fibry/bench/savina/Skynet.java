package io.fibry.bench.savina;

import io.fibry.Actor;
import io.fibry.ActorBuilder;
import io.fibry.ActorContext;
import io.fibry.bench.savina.SavinaProgram.ProgramSide;
import java.util.ArrayList;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.LinkedTransferQueue;
import org.apache.pekko.actor.typed.ActorRef;
import org.apache.pekko.actor.typed.Behavior;
import org.apache.pekko.actor.typed.javadsl.Behaviors;

/**
 * An actor makes ten children, each of which makes ten more, and so on. A leaf replies with its
 * number, and every other actor replies to its parent with the sum of its children's replies. This
 * program is not from Savina, but is known as "skynet 1M".
 */
final class Skynet {
  private static final int CHILDREN = 10;

  private Skynet() {}

  static SavinaProgram program(int leaves) {
    return SavinaProgram.of("skynet", SavinaProgram.size(leaves, "leaves"), (long) leaves * (leaves - 1) / 2,
        new ProgramSide("fibry",
            round -> round.setResult(Round.FIBERS.newActorWithReturn(Skynet::sumOf).ask(new Range(0, leaves)))),
        new ProgramSide("fibry-messages", round -> fibryMessages(Round.FIBERS, leaves, round)),
        new ProgramSide("fibry-pool", round -> fibryMessages(Round.POOL, leaves, round)),
        new ProgramSide("pekko", round -> pekko(leaves, round)),
        new ProgramSide("queues", round -> queues(leaves, round)));
  }

  private record Range(long first, int size) {
    Range child(int index) {
      return new Range(first + (long) index * (size / CHILDREN), size / CHILDREN);
    }
  }

  // ---- Fibry: a node asks all its children and waits

  private static long sumOf(Range range) {
    if (range.size == 1) return range.first;
    var partialSums = new ArrayList<CompletableFuture<Long>>(CHILDREN);
    for (int i = 0; i < CHILDREN; i++)
      partialSums.add(Round.FIBERS.newActorWithReturn(Skynet::sumOf).sendMessageReturn(range.child(i)));
    long sum = 0;
    for (var partialSum : partialSums) sum += partialSum.join();
    return sum;
  }

  // ---- Fibry, messages only: no handler waits

  private sealed interface NodeMessage {
    record Begin(Range range, Actor<? super Sum> parent) implements NodeMessage {}

    record Sum(long value) implements NodeMessage {}
  }

  private static final class NodeState {
    private Actor<? super NodeMessage.Sum> parent;
    private int replies;
    private long sum;
  }

  private static void fibryMessages(ActorBuilder<Object> actors, int leaves, Round round) {
    Actor<NodeMessage.Sum> root = actors.newActor((NodeMessage.Sum total) -> round.setResult(total.value));
    startNode(actors, new Range(0, leaves), root);
  }

  private static void startNode(ActorBuilder<Object> actors, Range range, Actor<? super NodeMessage.Sum> parent) {
    actors.initialState(NodeState::new)
        .newActor((NodeState node, NodeMessage message, ActorContext<NodeMessage> context) -> {
          switch (message) {
            case NodeMessage.Begin begin when begin.range.size == 1 -> begin.parent
                .sendMessage(new NodeMessage.Sum(begin.range.first));
            case NodeMessage.Begin begin -> {
              node.parent = begin.parent;
              for (int i = 0; i < CHILDREN; i++) startNode(actors, begin.range.child(i), context.self());
            }
            case NodeMessage.Sum part -> {
              node.sum += part.value;
              if (++node.replies == CHILDREN) node.parent.sendMessage(new NodeMessage.Sum(node.sum));
            }
          }
        }).sendMessage(new NodeMessage.Begin(range, parent));
  }

  // ---- Pekko: a node stops when all children have answered

  private static void pekko(int leaves, Round round) {
    round.spawn(Behaviors.<Long>setup(context -> {
      context.spawnAnonymous(nodeBehavior(new Range(0, leaves), context.getSelf()));
      return Behaviors.receiveMessage(sum -> {
        round.setResult(sum);
        return Behaviors.same();
      });
    }));
  }

  private static Behavior<Long> nodeBehavior(Range range, ActorRef<Long> parent) {
    return Behaviors.setup(context -> {
      if (range.size == 1) {
        parent.tell(range.first);
        return Behaviors.stopped();
      }
      for (int i = 0; i < CHILDREN; i++) context.spawnAnonymous(nodeBehavior(range.child(i), context.getSelf()));
      var replies = new int[1];
      var sum = new long[1];
      return Behaviors.receiveMessage(part -> {
        sum[0] += part;
        if (++replies[0] < CHILDREN) return Behaviors.same();
        parent.tell(sum[0]);
        return Behaviors.stopped();
      });
    });
  }

  // ---- queues: a virtual thread for each node, and a queue for each node with children

  private static void queues(int leaves, Round round) throws InterruptedException {
    var root = new LinkedTransferQueue<Long>();
    startThread(new Range(0, leaves), root, round);
    round.setResult(root.take());
  }

  private static void startThread(Range range, BlockingQueue<Long> parent, Round round) {
    round.start(() -> {
      if (range.size == 1) {
        parent.put(range.first);
        return;
      }
      var childSums = new LinkedTransferQueue<Long>();
      for (int i = 0; i < CHILDREN; i++) startThread(range.child(i), childSums, round);
      long sum = 0;
      for (int i = 0; i < CHILDREN; i++) sum += childSums.take();
      parent.put(sum);
    });
  }
}
