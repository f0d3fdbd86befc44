/**
 * The HTTP servers behind {@link io.fibry.net.HttpServer}. Begin with {@code HttpConversation},
 * which reads a request, finds its route, and sends the response. Not exported.
 */
package io.fibry.net.http;
