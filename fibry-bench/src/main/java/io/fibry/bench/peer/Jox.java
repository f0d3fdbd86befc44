package io.fibry.bench.peer;

import com.softwaremill.jox.Channel;
import java.util.function.Consumer;
import java.util.function.Function;

/**
 * Jox: a channel, unlimited or buffered, and a virtual thread that receives from it, as its
 * documentation shows. (Its own {@code ActorRef} does the same, in a module that needs preview
 * features.)
 */
final class Jox implements Peer.Requests, Peer.BoundedMailboxes {

  private record ChannelReceiver<M>(Channel<M> channel, Thread thread) implements Receiver<M> {
    @Override
    public void send(M message) {
      try {
        channel.send(message);
      } catch (InterruptedException never) {
        throw new AssertionError(never);
      }
    }

    @Override
    public void end() {
      ReceiverThreads.end(thread);
    }
  }

  @Override
  public <M> Receiver<M> actor(Consumer<M> handler) {
    return on(Channel.newUnlimitedChannel(), handler);
  }

  @Override
  public <M> Receiver<M> bounded(int room, Consumer<M> handler) {
    return on(Channel.newBufferedChannel(room), handler);
  }

  private static <M> Receiver<M> on(Channel<M> channel, Consumer<M> handler) {
    return new ChannelReceiver<>(channel,
        ReceiverThreads.VIRTUAL.apply(ReceiverThreads.forEver(channel::receive, handler)));
  }

  @Override
  public <M, R> Answerer<M, R> answering(Function<M, R> handler) {
    return ReceiverThreads.answerer(this, handler);
  }
}
