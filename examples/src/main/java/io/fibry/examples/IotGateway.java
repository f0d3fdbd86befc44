package io.fibry.examples;

import io.fibry.net.TcpConnection;
import io.fibry.stereotype.Stereotypes;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.net.InetAddress;
import java.net.Socket;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Phaser;
import java.util.concurrent.atomic.LongAdder;

/**
 * Thousands of devices, each with a long conversation of its own: an actor that mostly waits. They
 * report when they are asked to. The argument says how many; each takes two file descriptors, since
 * both ends are in here.
 */
class IotGateway {
  private static final int ROUNDS = 3;
  private static final LongAdder sum = new LongAdder();
  private static CountDownLatch known;
  private static Phaser reports;

  public static void main(String[] args) throws Exception {
    int devices = args.length > 0 ? Integer.parseInt(args[0]) : 9_000;
    known = new CountDownLatch(devices);
    reports = new Phaser(devices + 1);
    var gateway = Stereotypes.fibers().tcpAcceptor(0, IotGateway::serve, o -> o.withMaxConnections(devices));
    for (int i = 1; i <= devices; i++) {
      var socket = new Socket(InetAddress.getLoopbackAddress(), gateway.port());
      int id = i;
      Thread.startVirtualThread(() -> device(socket, id));
    }
    known.await();
    System.out.println(gateway.connections().size() + " devices are connected");

    for (int round = 1; round <= ROUNDS; round++) {
      gateway.connections().forEach(device -> device.lineActor().sendMessage("report"));
      reports.arriveAndAwaitAdvance();
      System.out.println("round " + round + ": " + sum.sumThenReset());
    }
    gateway.connections().forEach(device -> device.lineActor().sendMessage("good bye"));
    gateway.close(); // waits for all of them
    System.out.println(gateway.connections().size() + " devices are connected");
  }

  private static void serve(TcpConnection device) {
    known.countDown();
    for (var report : device.lines()) {
      sum.add(Long.parseLong(report));
      reports.arrive();
    }
  }

  /** What runs in the device. */
  private static void device(Socket socket, int id) {
    try (socket; var in = new BufferedReader(new InputStreamReader(socket.getInputStream()), 64)) {
      while ("report".equals(in.readLine())) socket.getOutputStream().write((id + "\n").getBytes());
    } catch (IOException gatewayIsGone) {
      System.out.println(id + ": " + gatewayIsGone);
    }
  }
}
