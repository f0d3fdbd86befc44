package io.fibry.net;

import java.net.InetSocketAddress;
import java.util.Arrays;
import java.util.Objects;

/**
 * A datagram, copied: nobody else has its array, which is handed out as it is. Two are equal if
 * they are from the same address, with the same bytes. As thread-safe as an array.
 * {@snippet class="io.fibry.UdpSnippetsTest" region="packet"}
 *
 * @param from who says to have sent it; anybody can say anything
 * @param data what it carries
 * @param truncated whether it was longer than the server reads
 */
public record UdpPacket(InetSocketAddress from, byte[] data, boolean truncated) {

  /** Its parts are never null. */
  public UdpPacket {
    Objects.requireNonNull(from, "from");
    Objects.requireNonNull(data, "data");
  }

  @Override
  public boolean equals(Object other) {
    return other instanceof UdpPacket packet && from.equals(packet.from) && Arrays.equals(data, packet.data)
        && truncated == packet.truncated;
  }

  @Override
  public int hashCode() {
    return 31 * from.hashCode() + Arrays.hashCode(data);
  }

  /** Not its bytes: it stands in logs. */
  @Override
  public String toString() {
    return data.length + " bytes from " + from + (truncated ? ", truncated" : "");
  }
}
