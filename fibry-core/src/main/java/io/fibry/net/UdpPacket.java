package io.fibry.net;

import java.net.InetSocketAddress;
import java.util.Arrays;
import java.util.Objects;

/**
 * A datagram. Equal ones have the same sender and bytes. It is as thread-safe as its array, which
 * is not copied.
 * {@snippet class="io.fibry.UdpSnippetsTest" region="packet"}
 *
 * @param from the sender it claims
 * @param data the content of the packet
 * @param isTruncated whether it was too long
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

  /** Without its bytes, for logs. */
  @Override
  public String toString() {
    return data.length + " bytes from " + from + (isTruncated ? ", truncated" : "");
  }
}
