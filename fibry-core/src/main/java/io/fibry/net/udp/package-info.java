/**
 * The UDP servers behind {@link io.fibry.net.UdpServer}: the fiber that receives packets, its
 * sockets, and the limit of the rate of each sender. Not exported.
 */
package io.fibry.net.udp;
