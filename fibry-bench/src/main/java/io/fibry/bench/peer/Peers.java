package io.fibry.bench.peer;

import io.fibry.Strategy;

/** The peers by name: the values of the parameter {@code who}. */
public final class Peers {
  private Peers() {}

  public static Peer of(String who) {
    return switch (who) {
      case "fiber" -> Fibry.on(Strategy.FIBER);
      case "thread" -> Fibry.on(Strategy.THREAD);
      case "resident" -> Fibry.on(Strategy.RESIDENT_FIBER);
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

  /** A peer that must offer this. */
  public static <P extends Peer> P of(String who, Class<P> offer) {
    var peer = of(who);
    if (offer.isInstance(peer)) return offer.cast(peer);
    peer.close();
    throw new IllegalArgumentException(
        "peer '" + who + "' does not offer " + offer.getSimpleName() + "; leave it out of this question");
  }
}
