package io.fibry.cluster;

import io.fibry.Request;
import io.fibry.codec.Codec;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * Messages without answers, in one request: the messages of each actor together, in their order.
 * Its answer says which of them their actors have not taken.
 *
 * @param tells of one route, as they are in the bytes
 * @param body all, as bytes
 */
record TellBundle(List<RemoteSender.OutboundTell> tells, byte[] body)
    implements Request<TellBundle, TellBundle.Receipt>, RemoteSender.OutboundRequest<TellBundle.Receipt> {
  /**
   * Messages of an actor.
   *
   * @param key empty: it is no entity
   * @param contexts the texts that the carriers wrote for each message; empty if there are none, or
   * the node is older
   */
  record Group(Optional<String> key, List<byte[]> bodies, List<String> contexts) {
    String context(int index) {
      return index < contexts.size() ? contexts.get(index) : "";
    }
  }

  private record Groups(List<Group> groups) {}

  /** All have arrived; these were not taken. */
  record Receipt(List<Refusal> refusals) {}

  /**
   * A message that was not taken.
   *
   * @param index of it, in all groups
   * @param why in words
   */
  record Refusal(int index, String why) {}

  private static final Codec<Groups> GROUPS = Codec.of(Groups.class);
  private static final Codec<Receipt> RECEIPTS = Codec.of(Receipt.class);

  static TellBundle of(List<RemoteSender.OutboundTell> tells) {
    var byActor = new LinkedHashMap<RemoteSender.RemoteAddress, List<RemoteSender.OutboundTell>>();
    for (var one : tells) byActor.computeIfAbsent(one.to(), none -> new ArrayList<>()).add(one);
    var groups = new ArrayList<Group>(byActor.size());
    var inOrder = new ArrayList<RemoteSender.OutboundTell>(tells.size());
    byActor.forEach((to, all) -> {
      groups.add(group(to, all));
      inOrder.addAll(all);
    });
    return new TellBundle(inOrder, GROUPS.encode(new Groups(groups)));
  }

  private static Group group(RemoteSender.RemoteAddress to, List<RemoteSender.OutboundTell> all) {
    boolean any = all.stream().anyMatch(one -> !one.context().isEmpty());
    return new Group(to.key(), all.stream().map(RemoteSender.OutboundTell::body).toList(),
        any ? all.stream().map(RemoteSender.OutboundTell::context).toList() : List.of());
  }

  /** Throws if these bytes are none. */
  static List<Group> groups(byte[] body) {
    return GROUPS.decode(body).groups;
  }

  static byte[] bytes(Receipt receipt) {
    return RECEIPTS.encode(receipt);
  }

  @Override
  public RemoteSender.RemoteAddress to() {
    return tells.getFirst().to();
  }

  /** Each message has its own. */
  @Override
  public String context() {
    return "";
  }

  @Override
  public Request<?, Receipt> request() {
    return this;
  }

  @Override
  public Object describedMessage() {
    return tells.size() == 1 ? tells.getFirst().message() : this;
  }

  @Override
  public Map<String, String> headers(Route route) {
    var headers = route.headers(Optional.empty());
    headers.put(Route.TELLS, Integer.toString(tells.size()));
    return headers;
  }

  @Override
  public Receipt decodeAnswer(byte[] bytes) {
    return RECEIPTS.decode(bytes);
  }

  @Override
  public String toString() {
    return tells.size() == 1 ? tells.getFirst().toString() : tells.size() + " messages";
  }
}
