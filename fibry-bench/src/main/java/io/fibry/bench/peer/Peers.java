package io.fibry.bench.peer;

import io.fibry.Strategy;

/** The peers by name: what the parameter {@code who} of each question takes. */
public final class Peers {
  private Peers() {}

  /**
   * A peer.
   *
   * @param who its name
   * @return it, to be closed
   */
  public static Peer of(String who) {
    return switch (who) {
      case "fiber" -> Fibry.on(Strategy.FIBER);
      case "thread" -> Fibry.on(Strategy.THREAD);
      case "resident" -> Fibry.on(Strategy.residentFiber());
      case "forkjoin" -> Fibry.onForkJoinPool();
      case "caller" -> Fibry.on(Strategy.CALLER);
      case "sink" -> new FibrySink();
      case "pekko" -> Pekko.plain();
      case "pekko-tuned" -> Pekko.tuned();
      case "pojo-actor" -> new PojoActor();
      case "jox" -> new Jox();
      case "kotlin" -> new Kotlin();
      case "jctools" -> new JcTools();
      case "virtual-queue" -> new ThreadWithQueue(ReceiverThreads.VIRTUAL);
      case "platform-queue" -> new ThreadWithQueue(ReceiverThreads.PLATFORM);
      case "executor" -> new SingleThreadExecutor();
      case "executor-virtual" -> new VirtualThreadExecutor();
      default -> throw new IllegalArgumentException("no peer '" + who + "'; see Peers");
    };
  }

  /**
   * A peer that can do something more.
   *
   * @param <P> the peer
   * @param who its name
   * @param shape what it must be able to do
   * @return it, to be closed
   */
  public static <P extends Peer> P of(String who, Class<P> shape) {
    var peer = of(who);
    if (shape.isInstance(peer)) return shape.cast(peer);
    peer.close();
    throw new IllegalArgumentException(
        "'" + who + "' is no " + shape.getSimpleName() + " peer; leave it out of this question");
  }
}
