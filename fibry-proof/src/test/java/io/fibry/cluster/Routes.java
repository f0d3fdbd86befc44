package io.fibry.cluster;

import io.fibry.ActorScope;
import io.fibry.cluster.spi.ClusterTransport;
import io.fibry.cluster.spi.WireMessage;
import io.fibry.pubsub.Subscription;
import io.fibry.store.Store;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.concurrent.CompletionStage;
import java.util.function.Consumer;
import java.util.stream.Stream;

/**
 * The connection of a machine to one of several servers, as code on the machine of the servers sees
 * it. The other servers learn late of its subscriptions, and of their ends: until then, messages to
 * it do not arrive, or arrive and are lost. All servers have the same table, store and queues. For
 * threads of a simulation.
 */
final class Routes {
  /** Gets messages, and by which server. */
  interface Reader {
    void accept(int server, WireMessage message);
  }

  private static final String AT = "@"; // of a subject for an answer: the server whose machine waits for it

  private final RemoteNetwork network;
  private final List<ClusterTransport> all; // by server
  private final int own;
  private final List<Line> routes; // on which others learn, by server

  Routes(RemoteNetwork network, List<ClusterTransport> all, int own) {
    this.network = network;
    this.all = all;
    this.own = own;
    this.routes = Stream.generate(network::toServers).limit(all.size()).toList();
  }

  private ClusterTransport own() {
    return all.get(own);
  }

  /** Returns a line for each server: messages by one line may overtake messages by another. */
  List<Line> lines(ActorScope scope) {
    return Stream.generate(() -> new Line(scope)).limit(all.size()).toList();
  }

  void publish(WireMessage message) {
    int at = message.subject().lastIndexOf(AT);
    if (at < 0) own().publish(message);
    else all.get(Integer.parseInt(message.subject().substring(at + 1)))
        .publish(
            new WireMessage(message.subject().substring(0, at), message.replyTo(), message.headers(), message.body()));
  }

  CompletionStage<WireMessage> request(WireMessage message, Duration limit) {
    return own().request(message, limit);
  }

  /** The own server knows it when this returns. */
  Subscription subscribe(String subject, Optional<String> group, Reader reader) {
    var ends = new ArrayList<Runnable>();
    var ended = new boolean[1];
    for (int i = 0; i < all.size(); i++) {
      int server = i;
      Consumer<WireMessage> here = wire -> {
        if (!ended[0]) reader.accept(server, withServer(wire, server));
      };
      if (server == own) {
        var one = own().subscribe(subject, group, here);
        ends.addFirst(one::close);
      } else {
        var learned = new ArrayList<Subscription>(1);
        var route = routes.get(server);
        route.add(network.learning(), () -> learned.add(all.get(server).subscribe(subject, group, here)));
        ends.add(() -> route.add(network.learning(), () -> learned.forEach(Subscription::close)));
      }
    }
    return () -> {
      ends.forEach(Runnable::run);
      ended[0] = true;
    };
  }

  private WireMessage withServer(WireMessage wire, int server) {
    return wire.replyTo().filter(to -> !to.contains(AT))
        .map(to -> wire.withReplyTo(to + AT + server)).orElse(wire);
  }

  // ---- what all servers have

  OptionalLong create(String key, byte[] value, Duration lease) {
    return all.getFirst().create(key, value, lease);
  }

  OptionalLong update(String key, byte[] value, long version, Duration lease) {
    return all.getFirst().update(key, value, version, lease);
  }

  boolean delete(String key, long version) {
    return all.getFirst().delete(key, version);
  }

  Optional<ClusterTransport.Entry> get(String key) {
    return all.getFirst().get(key);
  }

  Subscription watch(String prefix, Consumer<ClusterTransport.Entry> reader) {
    return all.getFirst().watch(prefix, reader);
  }

  Store store() {
    return all.getFirst().store();
  }

  ClusterTransport.Queue queue(String subject) {
    return all.getFirst().queue(subject);
  }

  int mostBytes() {
    return own().maxBodyBytes();
  }

  void close() {
    all.forEach(ClusterTransport::close);
  }
}
