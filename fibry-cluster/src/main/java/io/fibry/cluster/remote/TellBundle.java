package io.fibry.cluster.remote;

import io.fibry.Request;
import io.fibry.cluster.spi.WireMessage;
import io.fibry.cluster.wire.Destination;
import io.fibry.codec.Codec;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * A request that contains several messages that expect no answer, grouped by actor. Each group
 * preserves the order in which the messages were sent. The answer lists the messages that the
 * actors have refused.
 *
 * @param tells messages of one destination, in the order in which they are encoded
 * @param body the encoded messages
 */
public record TellBundle(List<OutboundTell> tells, byte[] body)
    implements Request<TellBundle, TellBundle.Receipt>, OutboundRequest<TellBundle.Receipt> {
  /**
   * The messages of one actor.
   *
   * @param key the key of the entity; empty if the actor is not an entity
   * @param contexts the texts of the context propagators for each message; empty if there are none,
   * or if the sending node runs an older version
   */
  public record Group(Optional<String> key, List<byte[]> bodies, List<String> contexts) {
    public String context(int index) {
      return index < contexts.size() ? contexts.get(index) : "";
    }
  }

  private record Groups(List<Group> groups) {}

  /** The answer: all messages have arrived, and the listed messages were refused. */
  record Receipt(List<Refusal> refusals) {}

  /**
   * A message that was refused.
   *
   * @param index its index in the bundle, over all groups
   * @param why the reason
   */
  record Refusal(int index, String why) {}

  private static final Codec<Groups> GROUPS_CODEC = Codec.of(Groups.class);
  private static final Codec<Receipt> RECEIPT_CODEC = Codec.of(Receipt.class);

  public static TellBundle of(List<OutboundTell> tells) {
    if (haveSameAddress(tells)) return new TellBundle(tells, encode(List.of(group(tells))));
    var byActor = new LinkedHashMap<RemoteAddress, List<OutboundTell>>();
    for (var tell : tells) byActor.computeIfAbsent(tell.address(), key -> new ArrayList<>()).add(tell);
    return new TellBundle(byActor.values().stream().flatMap(List::stream).toList(),
        encode(byActor.values().stream().map(TellBundle::group).toList()));
  }

  private static boolean haveSameAddress(List<OutboundTell> tells) {
    var address = tells.getFirst().address();
    for (var tell : tells) if (tell.address() != address && !tell.address().equals(address)) return false;
    return true;
  }

  private static Group group(List<OutboundTell> tells) {
    var bodies = new ArrayList<byte[]>(tells.size());
    boolean hasContext = false;
    for (var tell : tells) {
      bodies.add(tell.body());
      hasContext |= !tell.context().isEmpty();
    }
    return new Group(tells.getFirst().address().key(), bodies,
        hasContext ? tells.stream().map(OutboundTell::context).toList() : List.of());
  }

  private static byte[] encode(List<Group> groups) {
    return GROUPS_CODEC.encode(new Groups(groups));
  }

  public static boolean isBundle(WireMessage wire) {
    return wire.header(Destination.BUNDLE_SIZE).isPresent();
  }

  /** Decodes the groups of a bundle. Throws an exception if these bytes are not a bundle. */
  public static List<Group> groups(byte[] body) {
    return GROUPS_CODEC.decode(body).groups;
  }

  static byte[] bytes(Receipt receipt) {
    return RECEIPT_CODEC.encode(receipt);
  }

  @Override
  public RemoteAddress address() {
    return tells.getFirst().address();
  }

  /** Returns an empty text, because each message has its own context. */
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
  public Map<String, String> headers(Destination destination) {
    var headers = destination.headers(Optional.empty());
    headers.put(Destination.BUNDLE_SIZE, Integer.toString(tells.size()));
    return headers;
  }

  @Override
  public Receipt decodeAnswer(byte[] bytes) {
    return RECEIPT_CODEC.decode(bytes);
  }

  @Override
  public String toString() {
    return tells.size() == 1 ? tells.getFirst().toString() : tells.size() + " messages";
  }
}
