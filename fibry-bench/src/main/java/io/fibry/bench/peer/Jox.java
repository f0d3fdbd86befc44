package io.fibry.bench.peer;

import com.softwaremill.jox.Channel;
import java.util.function.Consumer;
import java.util.function.Function;

/**
 * An actor made with Jox, as its documentation shows: an unlimited or buffered channel, and a
 * virtual thread that receives from it. The {@code ActorRef} of Jox does the same, in a module that
 * needs preview features.
 */
final class Jox implements Peer.Requests, Peer.BoundedMailboxes {

  private record ChannelReceiver<M>(Channel<M> channel, Thread thread) implements Receiver<M> {
    @Override
    public void send(M message) {
      try {
        channel.send(message);
      } catch (InterruptedException interruption) {
        throw new AssertionError(interruption);
      }
    }

    @Override
    public void end() {
      ReceiverThreads.end(thread);
    }
  }

  @Override
  public <M> Receiver<M> actor(Consumer<M> handler) {
    return receiver(Channel.newUnlimitedChannel(), handler);
  }

  @Override
  public <M> Receiver<M> bounded(int capacity, Consumer<M> handler) {
    return receiver(Channel.newBufferedChannel(capacity), handler);
  }

  private static <M> Receiver<M> receiver(Channel<M> channel, Consumer<M> handler) {
    return new ChannelReceiver<>(channel,
        ReceiverThreads.VIRTUAL.apply(ReceiverThreads.receiveLoop(channel::receive, handler)));
  }

  @Override
  public <M, R> Answerer<M, R> answering(Function<M, R> handler) {
    return ReceiverThreads.answerer(this, handler);
  }
}
