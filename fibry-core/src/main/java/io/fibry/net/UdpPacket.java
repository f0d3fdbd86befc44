package io.fibry.net;

import java.net.InetSocketAddress;
import java.util.Arrays;
import java.util.Objects;

/**
 * A datagram. Packets with the same sender, bytes and truncation are equal. The array is not
 * copied, so a packet is immutable only if its array is never changed.
 * {@snippet class="io.fibry.UdpSnippetsTest" region="packet"}
 *
 * @param from the sender that the datagram names, which may be forged
 * @param data the content of the datagram
 * @param isTruncated whether the datagram was longer than the server reads
 */
public record UdpPacket(InetSocketAddress from, byte[] data, boolean isTruncated) {

  /** Refuses null. */
  public UdpPacket {
    Objects.requireNonNull(from, "from");
    Objects.requireNonNull(data, "data");
  }

  @Override
  public boolean equals(Object other) {
    return other instanceof UdpPacket packet && from.equals(packet.from) && Arrays.equals(data, packet.data)
        && isTruncated == packet.isTruncated;
  }

  @Override
  public int hashCode() {
    return 31 * from.hashCode() + Arrays.hashCode(data);
  }

  /** {@return a text without the bytes, for logs} */
  @Override
  public String toString() {
    return data.length + " bytes from " + from + (isTruncated ? ", truncated" : "");
  }
}
