package io.fibry.cluster;

import io.fibry.Request;
import io.fibry.codec.Codec;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * Messages that nobody waits for, in one. Its answer says which of them their actors have not
 * taken.
 *
 * @param tells of one route
 * @param body all, as bytes
 */
record Tells(List<Relay.Tell> tells, byte[] body) implements Request<Tells, Tells.Receipt>, Relay.Sent<Tells.Receipt> {
  /**
   * A message.
   *
   * @param key empty: its actor is no entity
   */
  record Item(Optional<String> key, byte[] body) {}

  private record Items(List<Item> items) {}

  /** All have arrived; these were not taken. */
  record Receipt(List<Refusal> refusals) {}

  /**
   * A message that was not taken.
   *
   * @param index of it
   * @param why in words
   */
  record Refusal(int index, String why) {}

  private static final Codec<Items> ITEMS = Codec.of(Items.class);
  private static final Codec<Receipt> RECEIPTS = Codec.of(Receipt.class);

  static Tells of(Relay.Tell one) {
    return of(List.of(one));
  }

  static Tells of(List<Relay.Tell> tells) {
    var items = new ArrayList<Item>(tells.size());
    for (var one : tells) items.add(new Item(one.to().key(), one.body()));
    return new Tells(tells, ITEMS.encode(new Items(items)));
  }

  /** Throws if these bytes are none. */
  static List<Item> items(byte[] body) {
    return ITEMS.decode(body).items;
  }

  static byte[] bytes(Receipt receipt) {
    return RECEIPTS.encode(receipt);
  }

  @Override
  public Relay.Address to() {
    return tells.getFirst().to();
  }

  @Override
  public Request<?, Receipt> request() {
    return this;
  }

  @Override
  public Map<String, String> headers(Route route) {
    var headers = route.headers(Optional.empty());
    headers.put(Route.TELLS, Integer.toString(tells.size()));
    return headers;
  }

  @Override
  public Receipt answer(byte[] bytes) {
    return RECEIPTS.decode(bytes);
  }

  @Override
  public String toString() {
    return tells.size() == 1 ? tells.getFirst().toString() : tells.size() + " messages";
  }
}
