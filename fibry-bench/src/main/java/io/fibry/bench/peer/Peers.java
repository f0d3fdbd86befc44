package io.fibry.bench.peer;

import io.fibry.Strategy;

/** Makes a peer from its name, which is a value of the benchmark parameter {@code who}. */
public final class Peers {
  private Peers() {}

  public static Peer of(String name) {
    return switch (name) {
      case "fiber" -> Fibry.withStrategy(Strategy.FIBER);
      case "thread" -> Fibry.withStrategy(Strategy.THREAD);
      case "resident" -> Fibry.withStrategy(Strategy.RESIDENT_FIBER);
      case "forkjoin" -> Fibry.onForkJoinPool();
      case "caller" -> Fibry.withStrategy(Strategy.CALLER);
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
      default -> throw new IllegalArgumentException("no peer '" + name + "'; see Peers");
    };
  }

  /** Returns the named peer, which must implement {@code offer}. */
  public static <P extends Peer> P of(String name, Class<P> offer) {
    var peer = of(name);
    if (offer.isInstance(peer)) return offer.cast(peer);
    peer.close();
    throw new IllegalArgumentException(
        "peer '" + name + "' does not offer " + offer.getSimpleName()
            + "; remove it from the values of `who` in this benchmark");
  }
}
