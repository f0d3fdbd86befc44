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
 * An actor makes ten, each of which makes ten more; the leaves answer with their numbers, and sums
 * go back to the root. It is no benchmark of Savina, but known as "skynet 1M".
 */
final class Skynet {
  private static final int CHILDREN = 10;

  private Skynet() {}

  static SavinaProgram program(int leaves) {
    return SavinaProgram.of("skynet", SavinaProgram.size(leaves, "leaves"), (long) leaves * (leaves - 1) / 2,
        new ProgramSide("fibry",
            round -> round.done(Round.FIBERS.newActorWithReturn(Skynet::sum).ask(new Range(0, leaves)))),
        new ProgramSide("fibry-messages", round -> messages(Round.FIBERS, leaves, round)),
        new ProgramSide("fibry-pool", round -> messages(Round.POOL, leaves, round)),
        new ProgramSide("pekko", round -> pekko(leaves, round)),
        new ProgramSide("queues", round -> queues(leaves, round)));
  }

  private record Range(long first, int size) {
    Range part(int number) {
      return new Range(first + (long) number * (size / CHILDREN), size / CHILDREN);
    }
  }

  // ---- Fibry: a node asks all its children and waits

  private static long sum(Range range) {
    if (range.size == 1) return range.first;
    var parts = new ArrayList<CompletableFuture<Long>>(CHILDREN);
    for (int i = 0; i < CHILDREN; i++)
      parts.add(Round.FIBERS.newActorWithReturn(Skynet::sum).sendMessageReturn(range.part(i)));
    long sum = 0;
    for (var part : parts) sum += part.join();
    return sum;
  }

  // ---- Fibry, without waiting

  private sealed interface NodeMessage {
    record Begin(Range range, Actor<? super Sum> parent) implements NodeMessage {}

    record Sum(long value) implements NodeMessage {}
  }

  private static final class NodeState {
    private Actor<? super NodeMessage.Sum> parent;
    private int heard;
    private long sum;
  }

  private static void messages(ActorBuilder<Object> actors, int leaves, Round round) {
    Actor<NodeMessage.Sum> root = actors.newActor((NodeMessage.Sum all) -> round.done(all.value));
    begin(actors, new Range(0, leaves), root);
  }

  private static void begin(ActorBuilder<Object> actors, Range range, Actor<? super NodeMessage.Sum> parent) {
    actors.initialState(NodeState::new)
        .newActor((NodeState node, NodeMessage message, ActorContext<NodeMessage> context) -> {
          switch (message) {
            case NodeMessage.Begin begin when begin.range.size == 1 -> begin.parent
                .sendMessage(new NodeMessage.Sum(begin.range.first));
            case NodeMessage.Begin begin -> {
              node.parent = begin.parent;
              for (int i = 0; i < CHILDREN; i++) begin(actors, begin.range.part(i), context.self());
            }
            case NodeMessage.Sum part -> {
              node.sum += part.value;
              if (++node.heard == CHILDREN) node.parent.sendMessage(new NodeMessage.Sum(node.sum));
            }
          }
        }).sendMessage(new NodeMessage.Begin(range, parent));
  }

  // ---- Pekko: a node stops when all children have answered

  private static void pekko(int leaves, Round round) {
    round.pekko(Behaviors.<Long>setup(context -> {
      context.spawnAnonymous(node(new Range(0, leaves), context.getSelf()));
      return Behaviors.receiveMessage(sum -> {
        round.done(sum);
        return Behaviors.same();
      });
    }));
  }

  private static Behavior<Long> node(Range range, ActorRef<Long> parent) {
    return Behaviors.setup(context -> {
      if (range.size == 1) {
        parent.tell(range.first);
        return Behaviors.stopped();
      }
      for (int i = 0; i < CHILDREN; i++) context.spawnAnonymous(node(range.part(i), context.getSelf()));
      var heard = new int[1];
      var sum = new long[1];
      return Behaviors.receiveMessage(part -> {
        sum[0] += part;
        if (++heard[0] < CHILDREN) return Behaviors.same();
        parent.tell(sum[0]);
        return Behaviors.stopped();
      });
    });
  }

  // ---- queues: a virtual thread each, and a queue for each node with children

  private static void queues(int leaves, Round round) throws InterruptedException {
    var root = new LinkedTransferQueue<Long>();
    thread(new Range(0, leaves), root, round);
    round.done(root.take());
  }

  private static void thread(Range range, BlockingQueue<Long> parent, Round round) {
    round.start(() -> {
      if (range.size == 1) {
        parent.put(range.first);
        return;
      }
      var parts = new LinkedTransferQueue<Long>();
      for (int i = 0; i < CHILDREN; i++) thread(range.part(i), parts, round);
      long sum = 0;
      for (int i = 0; i < CHILDREN; i++) sum += parts.take();
      parent.put(sum);
    });
  }
}
