package io.fibry.examples;

import io.fibry.net.TcpConnection;
import io.fibry.stereotype.Stereotypes;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.net.InetAddress;
import java.net.Socket;
import java.util.concurrent.Semaphore;
import java.util.concurrent.atomic.LongAdder;

/**
 * Thousands of devices that report on request, each an actor that mostly waits. The argument is the
 * number of devices. Each takes two file descriptors, because this program also runs the devices.
 */
class IotGateway {
  private static final LongAdder SUM = new LongAdder();
  private static final Semaphore CONNECTED = new Semaphore(0);
  private static final Semaphore REPORTED = new Semaphore(0);

  public static void main(String[] args) throws Exception {
    int devices = args.length > 0 ? Integer.parseInt(args[0]) : 9_000;
    var gateway =
        Stereotypes.fibers().tcpAcceptor(0, IotGateway::serve, options -> options.withMaxConnections(devices));
    for (int i = 1; i <= devices; i++) {
      var socket = new Socket(InetAddress.getLoopbackAddress(), gateway.port());
      int id = i;
      Thread.startVirtualThread(() -> device(socket, id));
    }
    CONNECTED.acquire(devices);
    System.out.println(gateway.connections().size() + " devices are connected");

    for (int round = 1; round <= 3; round++) {
      gateway.connections().forEach(device -> device.lineActor().sendMessage("report"));
      REPORTED.acquire(devices);
      System.out.println("round " + round + ": " + SUM.sumThenReset());
    }
    gateway.connections().forEach(device -> device.lineActor().sendMessage("good bye"));
    gateway.close(); // waits until the handler of every connection has ended
    System.out.println(gateway.connections().size() + " devices are connected");
  }

  private static void serve(TcpConnection device) {
    CONNECTED.release();
    for (var report : device.lines()) {
      SUM.add(Long.parseLong(report));
      REPORTED.release();
    }
  }

  private static void device(Socket socket, int id) {
    try (socket; var in = new BufferedReader(new InputStreamReader(socket.getInputStream()), 64)) {
      while ("report".equals(in.readLine())) socket.getOutputStream().write((id + "\n").getBytes());
    } catch (IOException gatewayGone) {
      System.out.println(id + ": " + gatewayGone);
    }
  }
}
