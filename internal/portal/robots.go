package portal

import "encoding/xml"

// The elements of sitemaps (sitemaps.org).
const sitemapSpace = "http://www.sitemaps.org/schemas/sitemap/0.9"

type location struct {
	Address string `xml:"loc"`
}

type sitemapIndex struct {
	XMLName  xml.Name
	Sitemaps []location `xml:"sitemap"`
}

type sitemap struct {
	XMLName xml.Name
	Pages   []location `xml:"url"`
}

// Sitemaps returns the index of the sitemaps of an app whose address is known: one for each month, such as
// 2026-11.
func Sitemaps(site Site, months []string) ([]byte, error) {
	index := sitemapIndex{XMLName: xml.Name{Space: sitemapSpace, Local: "sitemapindex"}}
	for _, month := range months {
		index.Sitemaps = append(index.Sitemaps, location{site.URL("sitemap-" + month + ".xml")})
	}
	return xmlDocument(index)
}

// Sitemap returns the sitemap with the pages of ideas, of which it may have 50,000.
func Sitemap(site Site, ideas []Idea) ([]byte, error) {
	pages := sitemap{XMLName: xml.Name{Space: sitemapSpace, Local: "urlset"}}
	for _, idea := range ideas {
		pages.Pages = append(pages.Pages, location{site.URL(IdeaPath(idea))})
	}
	return xmlDocument(pages)
}

// Robots returns the file robots.txt of a host of the app's own. Searches and the page to sign in have too
// many addresses for programs that follow all links.
func Robots(site Site) []byte {
	if !site.Indexed {
		return []byte("User-agent: *\nDisallow: " + site.Home + "\n")
	}
	text := "User-agent: *\n"
	for _, path := range []string{"*?q=", "*&q=", "sign-in"} {
		text += "Disallow: " + site.Path(path) + "\n"
	}
	if site.Address != "" {
		text += "\nSitemap: " + site.URL("sitemap.xml") + "\n"
	}
	return []byte(text)
}
